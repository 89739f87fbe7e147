"""Problems for language models: data sets, their readers, generated arithmetic, prompts."""
