"""The world of language models: data sets, prompts, verifiers, trainers and evaluation."""
