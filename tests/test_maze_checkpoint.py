"""Maze policies in the format of MaxRL's official checkpoints, read by the classes of its code."""

import json
import shutil

import pytest
import torch
from test_tree_sampling import perturbed
from toy_trainings import start_records

from lab.cli import main
from lab.errors import LabError
from lab.runs import configure, experiment, start_of, train
from lab.toy.maze_checkpoint import read_checkpoint, write_checkpoint
from lab.toy.maze_env import DONE, EOS, VOCABULARY, draw
from lab.toy.maze_policy import load_policy, transformer_config
from lab.toy.transformer import Transformer, TransformerConfig, fresh_transformer

CPU = torch.device("cpu")
SHAPE = transformer_config(16, 2, 160)
# maze/ckpt-1500/config.json of github.com/tajwarfahim/maxrl at c0698eb, key by key.
OFFICIAL = {
    "architectures": ["Qwen2ForCausalLM"],
    "attention_dropout": 0.0,
    "bos_token_id": 1,
    "dtype": "bfloat16",
    "eos_token_id": 2,
    "hidden_act": "silu",
    "hidden_size": 256,
    "initializer_range": 0.02,
    "intermediate_size": 1024,
    "layer_types": ["full_attention"] * 4,
    "max_position_embeddings": 512,
    "max_window_layers": 4,
    "model_type": "qwen2",
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "pad_token_id": 0,
    "rms_norm_eps": 1e-06,
    "rope_scaling": None,
    "rope_theta": 1000000.0,
    "sliding_window": None,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.54.1",
    "use_cache": True,
    "use_sliding_window": False,
    "vocab_size": 32,
}


@pytest.fixture(scope="module")
def transformers():
    return pytest.importorskip("transformers", reason="transformers is not installed")


@pytest.fixture
def folder(tmp_path):
    write_checkpoint(perturbed(fresh_transformer(0, SHAPE)), tmp_path / "model")
    return tmp_path / "model"


def logits_of(model: Transformer, tokens: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return model.logits(model.prefill(tokens)[0])


def test_what_is_written_is_read_by_transformers_with_the_same_tokens_and_logits(
    transformers, folder
):
    theirs = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    # AutoTokenizer of transformers 5 takes any tokenizer beside a Qwen2 model for Qwen2's own, that
    # of the official checkpoint too; transformers 4 takes the class that the folder names.
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder)
    mazes = draw(7, 3, 0, "a", 0, CPU)
    prompts = mazes.prompts().long()
    words = [" ".join(VOCABULARY[token] for token in prompt) for prompt in prompts]
    encoded = tokenizer(words, add_special_tokens=False, return_tensors="pt")["input_ids"]
    assert torch.equal(encoded, prompts)
    with torch.no_grad():
        expected = theirs(prompts).logits
    found = logits_of(read_checkpoint(folder, SHAPE), prompts)
    assert expected.std() > 0.3 and (found - expected).abs().max() < 1e-5 * expected.abs().max()
    # As the official reward reads a rollout: without special tokens, up to DONE.
    answer = mazes.answers()[0].tolist()
    assert tokenizer.decode(answer, skip_special_tokens=True).split()[-1] == "DONE"
    assert theirs.generation_config.eos_token_id == [EOS, DONE]
    assert len(tokenizer) == SHAPE.vocab_size


def test_a_checkpoint_like_the_official_one_is_read(transformers, tmp_path):
    """Its configuration key by key, weights as the class of its code makes and saves them."""
    config = transformers.Qwen2Config(**OFFICIAL)
    torch.manual_seed(0)
    theirs = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    theirs.save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(OFFICIAL))
    assert transformer_config(256, 4, 512) == TransformerConfig()
    model = read_checkpoint(tmp_path, TransformerConfig())
    tokens = draw(17, 2, 0, "a", 0, CPU).prompts().long()
    whole = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    with torch.no_grad():
        expected = whole.eval()(tokens).logits
    assert (logits_of(model, tokens) - expected).abs().max() < 1e-5 * expected.abs().max()


def test_a_tokenizer_with_other_numbers_is_refused_in_one_sentence(folder):
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    words = content["model"]["vocab"]
    words["UP"], words["DOWN"] = words["DOWN"], words["UP"]
    path.write_text(json.dumps(content))
    with pytest.raises(LabError, match="'UP' has the number 14, and 13 in the mazes here"):
        read_checkpoint(folder, SHAPE)
    for text in ("{", "[]", '{"model": {"vocab": []}}'):
        path.write_text(text)
        with pytest.raises(LabError, match="holds no vocabulary of words") as error:
            read_checkpoint(folder, SHAPE)
        assert "\n" not in str(error.value)
    path.unlink()
    assert read_checkpoint(folder, SHAPE).config == SHAPE


def test_another_shape_and_a_folder_with_a_model_are_refused(folder):
    with pytest.raises(LabError, match="set width, layers and positions to those of the folder"):
        read_checkpoint(folder, transformer_config(24, 2, 160))
    with pytest.raises(LabError, match="already holds a model"):
        write_checkpoint(fresh_transformer(0, SHAPE), folder)


def test_a_trained_policy_is_exported_and_another_run_starts_from_it(runs, tmp_path, capsys):
    run = train(configure("maze", scale="smoke"))
    exported = tmp_path / "exported"
    assert main(["export", str(run.path), str(exported)]) == 0
    assert main(["export", str(run.path), str(exported)]) == 1
    assert "already holds a model" in capsys.readouterr().err
    assert main(["export", str(run.path), str(tmp_path / "other"), "--merge"]) == 1
    assert "leave --merge out" in capsys.readouterr().err
    start = start_of(configure("maze", scale="smoke"))
    assert main(["export", str(start.path), str(tmp_path / "start")]) == 0
    shutil.rmtree(run.path)  # a folder stands alone
    config = experiment("maze").configure("smoke", {"start_from": str(exported)})
    trained = load_policy(start_records(config)[-1][1], config).model.state_dict()
    kept = read_checkpoint(exported, transformer_config(16, 2, 512)).state_dict()
    assert all(torch.equal(trained[name], weight) for name, weight in kept.items())
