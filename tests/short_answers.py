"""Settings that give the smoke run of a language model answers of a few tokens: for tests that
learn nothing from longer ones, which are the same operators again.
"""

SHORT_ANSWERS = {
    "train_set": "arithmetic(level=1)",
    "eval_sets": ["arithmetic(level=1)"],
    "max_tokens": 20,
}
