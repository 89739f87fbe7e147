"""A tiny language model for tests and demonstrations, made from nothing in minutes on one core.
Floor 2.

    OMP_NUM_THREADS=1 python -m lab.llm.train.tiny_model [--folder data/models/tiny] [--seed 0] [--steps 2400]

A Qwen3 of half a million weights that reads and writes bytes, taught to write out the solutions of
`lab.llm.data.arithmetic`, levels 1 to 3, and stopped while it still errs: sampled at temperature 1
it solves some test problems always, some never and most now and then, as a large model does on
harder ones. It is saved as any model of the hub, so transformers, vLLM, TRL and verl load it like
one.

Two of Qwen's habits are kept on purpose. A head's width does not follow from the model's (4 heads
of 32 in 96), and an answer ends with one of two tokens: one solution in eight is taught with
`<|im_end|>` for its end, so that whoever stops at `<|endoftext|>` alone, which is how some answers
never stop (QwenLM/Qwen3, issue 927), is found out by this model.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from lab.llm.data.arithmetic import available, problems, solution
from lab.llm.data.prompts import load_prompt
from lab.llm.engines.base import Engine, Sampling
from lab.llm.engines.imports import transformers
from lab.llm.engines.transformers_engine import TransformersEngine
from lab.llm.verify.verifier import Verifier
from lab.rng import generator, stream_seed
from lab.stats import bootstrap

FOLDER = Path(__file__).parents[3] / "data" / "models" / "tiny"
END, TURN, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"  # ids 256, 257, 258
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content']"
    " }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SHAPE = {
    "hidden_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "intermediate_size": 320,
    "max_position_embeddings": 1024,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0},
    "tie_word_embeddings": True,
    "dtype": "float32",
}
SHARES = {1: 0.2, 2: 0.4, 3: 0.4}  # of the levels in the training problems
BATCH, POOL, RATE, DECAY, WARM, WHOLE = (
    32,
    16,
    3e-3,
    0.1,
    50,
    2400,
)  # POOL: batches drawn and sorted by length together
TURNED = 8  # one solution in so many ends with <|im_end|>
STEPS, LIMIT, PROBLEMS, ANSWERS = (
    2400,
    64,
    150,
    16,
)  # of the training; of an answer; measured a level; of a problem
UNTAUGHT = -100  # the label of a token that is not learned: of the question, or after the end

CARD = """# tiny

A Qwen3 of {weights:,} weights that reads and writes bytes, made from nothing for tests and demonstrations: supervised
training on the worked solutions of `lab.llm.data.arithmetic`, levels 1 to 3, training split, stopped while it still errs.

    OMP_NUM_THREADS=1 python -m lab.llm.train.tiny_model --seed {seed} --steps {steps}

makes all files of this folder, within minutes on one core (torch {torch}; the same machine gives the same bytes), and
measures what follows: {n} answers to each problem of the test split, prompt `plain`, temperature 1, top-p 1.

| level | pass@1 | problems never solved | always solved |
|---|---|---|---|
{rows}

`lab.llm.engines.factory.load_engine("transformers", "data/models/tiny")` answers with it, and so does `load_engine("vllm", ...)`; it is
saved as any model of the hub. An answer ends with `<|endoftext|>`, and one in eight with `<|im_end|>`: stop at both.
It was never taught the chat template that its tokenizer has.
"""


def tokenizer() -> Any:
    """A tokenizer of bytes, ids 0 to 255, and three special tokens of Qwen's, with its chat
    template.

    No text is unknown to it. Its padding is `<|endoftext|>`, as is its end.
    """
    library = transformers()
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(
        pre_tokenizers.ByteLevel.alphabet()
    )  # one printable character a byte, as in GPT-2 and Qwen
    made = Tokenizer(models.BPE(vocab={letter: at for at, letter in enumerate(letters)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([END, TURN, TURN_END])
    return library.PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token=END,
        pad_token=END,
        additional_special_tokens=[TURN, TURN_END],
        chat_template=TEMPLATE,
        model_max_length=SHAPE["max_position_embeddings"],
        clean_up_tokenization_spaces=False,
    )


def fresh_model(seed: int) -> Any:
    """A Qwen3ForCausalLM whose weights follow from the seed; torch's global generator is left
    alone.
    """
    library, end = transformers(), len(tokenizer()) - 3
    config = library.Qwen3Config(
        vocab_size=end + 3, eos_token_id=end, pad_token_id=end, bos_token_id=None, **SHAPE
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(seed, "weights"))
        return library.Qwen3ForCausalLM(config)


def batches(seed: int, steps: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """`steps` batches of training problems with their solutions: ids and labels, int64 "32 length".

    Problems of one length stand together, which saves a third of the work.
    """
    codes, plain = tokenizer(), load_prompt("plain")
    ends = [codes.convert_tokens_to_ids(token) for token in (END, TURN_END)]
    levels = {level: problems(available(level, "train"), level, seed, "train") for level in SHARES}
    pairs = {
        level: [
            (codes.encode(plain.render(one.question)), codes.encode(solution(one))) for one in there
        ]
        for level, there in levels.items()
    }
    for pool in range(0, steps, POOL):
        random = generator(seed, "batches", pool)
        drawn = []
        for level in random.choice(list(SHARES), BATCH * POOL, p=list(SHARES.values())):
            question, answer = pairs[level][int(random.integers(len(pairs[level])))]
            drawn.append((question, [*answer, ends[int(random.integers(TURNED) == 0)]]))
        drawn.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
        for part in random.permutation(POOL)[: steps - pool]:
            yield _padded(drawn[part * BATCH : (part + 1) * BATCH], ends[0])


def _padded(
    pairs: list[tuple[list[int], list[int]]], pad: int
) -> tuple[torch.Tensor, torch.Tensor]:
    width = max(len(question) + len(answer) for question, answer in pairs)
    ids, labels = np.full((len(pairs), width), pad), np.full((len(pairs), width), UNTAUGHT)
    for row, (question, answer) in enumerate(pairs):
        start, stop = len(question), len(question) + len(answer)
        ids[row, :stop] = question + answer
        labels[row, start:stop] = answer
    return torch.from_numpy(ids), torch.from_numpy(labels)


def train(model: Any, seed: int, steps: int) -> Iterator[float]:
    """Teach a model; yields the loss of each step, in nats a token of the solutions.

    AdamW, betas 0.9 and 0.99, weight decay 0.1, gradients clipped at 1; a rate of 3e-3 after 50
    steps, then along a cosine that would reach zero at step 2,400. With one thread the weights
    follow from the seed, bit for bit on one machine, and fewer steps give an earlier state of the
    same training.
    """
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=RATE, betas=(0.9, 0.99), weight_decay=DECAY
    )
    for step, (ids, labels) in enumerate(batches(seed, steps)):
        rate = RATE * min(1, (step + 1) / WARM) * (1 + np.cos(np.pi * step / WHOLE)) / 2
        optimiser.param_groups[0]["lr"] = float(rate)
        logits = model(
            input_ids=ids, use_cache=False
        ).logits  # padding stands last, where no token of ours sees it
        loss = F.cross_entropy(
            logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=UNTAUGHT
        )
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        yield loss.item()


def save(model: Any, folder: Path) -> None:
    """Write the model and its tokenizer as files that `from_pretrained` reads; weights as
    safetensors.
    """
    library, codes = transformers(), tokenizer()
    end, turn_end = codes.convert_tokens_to_ids([END, TURN_END])
    model.generation_config = library.GenerationConfig(
        eos_token_id=[end, turn_end], pad_token_id=end
    )
    model.save_pretrained(folder)
    codes.save_pretrained(folder, save_jinja_files=False)


def pass_rates(engine: Engine, level: int, count: int, n: int, seed: int = 0) -> np.ndarray:
    """The share of `n` answers, at temperature 1 and top-p 1, that solve each of `count` test
    problems: "problems".
    """
    asked, plain = problems(count, level, seed, "test"), load_prompt("plain")
    answers = engine.sample(
        [plain.render(one.question) for one in asked], Sampling(n, 1.0, 1.0, LIMIT, seed)
    )
    with Verifier() as verifier:
        verdicts = verifier.check(
            [one.text for each in answers for one in each],
            [one.answer for one in asked for _ in range(n)],
        )
    return np.reshape([verdict.outcome == "right" for verdict in verdicts], (count, n)).mean(1)


def card(rates: dict[int, np.ndarray], seed: int, steps: int, weights: int) -> str:
    """The README of a model: how it was made, and its pass rates "problems" by level."""
    rows = "\n".join(
        f"| {level} | {bootstrap(each)} | {(each == 0).mean():.0%} | {(each == 1).mean():.0%} |"
        for level, each in [*rates.items(), ("all", np.concatenate(list(rates.values())))]
    )
    return CARD.format(
        weights=weights, seed=seed, steps=steps, n=ANSWERS, torch=torch.__version__, rows=rows
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m lab.llm.train.tiny_model", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=STEPS)
    asked = parser.parse_args()
    torch.set_num_threads(1)  # of a tiny model, more would wait for each other, and round otherwise
    model, began = fresh_model(asked.seed), time.process_time()
    for step, loss in enumerate(train(model, asked.seed, asked.steps), 1):
        if step % 100 == 0 or step == asked.steps:
            print(
                f"step {step}: loss {loss:.3f}, {time.process_time() - began:.0f} s of CPU",
                flush=True,
            )
    save(model, asked.folder)
    engine = TransformersEngine(asked.folder, device="cpu")
    rates = {level: pass_rates(engine, level, PROBLEMS, ANSWERS) for level in SHARES}
    text = card(
        rates, asked.seed, asked.steps, sum(weight.numel() for weight in model.parameters())
    )
    (asked.folder / "README.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
