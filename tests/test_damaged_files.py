"""Files cannot lie: what a disk, a copy or an editor changed is refused with a sentence."""

import dataclasses
import json
import random
import re
import resource
import shutil

import pytest
from refusals import refusal

from lab.cli import main
from lab.runs import Run, configure, train
from lab.runs.training import load_checkpoint
from lab.show.audit import read_counts
from lab.toy import images


def small(**given) -> Run:
    config = configure("digits", scale="smoke", log_every=1, **given)
    return train(config, checkpoint_minutes=0)


@pytest.fixture
def run(trained) -> Run:
    """A finished run, of which each test has a copy."""
    return trained("digits", log_every=1)


def checkpoint(run: Run):
    (path,) = (run.path / "checkpoints").iterdir()
    return path


def flip(path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def drop_line(path, number: int) -> None:
    lines = path.read_text().splitlines(keepends=True)
    del lines[number]
    path.write_text("".join(lines))


def raise_a_number(path) -> None:
    content = path.read_text()
    digit = re.search(r"\d(?=, \"|\}\n$)", content).start()
    path.write_text(content[:digit] + str((int(content[digit]) + 1) % 10) + content[digit + 1 :])


def test_no_flipped_bit_of_a_checkpoint_is_loaded(run):
    path, draw = checkpoint(run), random.Random(0)
    content = path.read_bytes()
    header = 8 + int.from_bytes(content[:8], "little")
    bits = [draw.randrange(8 * header) for _ in range(60)]
    bits += [draw.randrange(8 * header, 8 * len(content)) for _ in range(60)]
    # Every bit of the name of the entry that holds the digest.
    name = 8 * content.index(b'"sha256"')
    for bit in (*bits, *range(name, name + 64)):
        flip(path, bit)
        said = refusal(lambda: load_checkpoint(run))
        assert str(path) in said and "folder and run it again" in said
        flip(path, bit)
    assert path.read_bytes() == content and load_checkpoint(run)[0]


@pytest.mark.parametrize("cut", [1, 1000])
def test_a_shortened_checkpoint_is_not_loaded(unfinished, cut):
    path = checkpoint(unfinished)
    path.write_bytes(path.read_bytes()[:-cut])
    assert "cannot be read" in refusal(small) and not unfinished.finished


def change_groups(path) -> None:
    import pandas as pd

    table = pd.read_parquet(path)
    table.loc[0, "step"] += 1
    table.to_parquet(path, index=False)


@pytest.mark.parametrize(
    "name, damage, said",
    [
        ("metrics.jsonl", lambda path: drop_line(path, 0), "metrics.jsonl was changed"),
        ("metrics.jsonl", lambda path: drop_line(path, -1), "metrics.jsonl was changed"),
        ("metrics.jsonl", lambda path: path.unlink(), "metrics.jsonl was changed: up to step"),
        ("metrics.jsonl", raise_a_number, "metrics.jsonl was changed"),
        ("groups.parquet", lambda p: p.write_bytes(p.read_bytes()[:-100]), "cannot be read"),
        ("groups.parquet", lambda path: path.write_bytes(b"x"), "cannot be read"),
        ("groups.parquet", lambda path: path.unlink(), "up to step"),
        ("groups.parquet", change_groups, "groups.parquet was changed"),
    ],
)
def test_a_run_does_not_go_on_from_records_that_are_not_its_own(unfinished, name, damage, said):
    damage(unfinished.path / name)
    assert said in refusal(small) and not unfinished.finished


def test_another_encoding_of_the_same_groups_is_the_same(unfinished):
    """A kill between the file of groups and its checkpoint leaves more rows; a newer library
    writes other bytes. What counts is the table."""
    import pandas as pd

    path, groups = unfinished.path / "groups.parquet", unfinished.groups()
    table = pd.read_parquet(path)
    later = table.assign(step=table["step"].max() + 1)
    pd.concat([table, later]).to_parquet(path, index=False, compression="gzip")
    assert small().groups().equals(groups)


@pytest.fixture
def telling(monkeypatch):
    """Trains the digits with a trainer that tells two rollouts a step."""

    def told(output):
        columns = {"problem": ["a", "b"], "text": [f"{output.step}", "é"], "reward": [1.0, None]}
        return dataclasses.replace(output, rollouts=columns)

    silent = images.train_digits

    def train_digits(*arguments):
        yield from map(told, silent(*arguments))

    monkeypatch.setattr(images, "train_digits", train_digits)


@pytest.fixture
def sampled(telling, monkeypatch, tmp_path) -> Run:
    """A finished run that stored its rollouts."""
    monkeypatch.setenv("LAB_RUNS", str(tmp_path / "sampled"))
    return small()


ROLLOUTS = {
    "a bit flipped": lambda files: flip(files[1], 8 * 100),
    "removed": lambda files: files[0].unlink(),
    "exchanged": lambda files: files[0].write_bytes(files[1].read_bytes()),
}


@pytest.mark.parametrize("damage", ROLLOUTS.values(), ids=ROLLOUTS)
def test_stored_rollouts_are_those_of_the_run(sampled, damage, capsys):
    files = sampled.rollouts
    assert len(files) > 2 and main(["check", "--runs"]) == 0
    damage(files)
    said = "rollouts was changed after the run had finished"
    assert said in refusal(sampled.check, "rollouts")
    assert said in refusal(lambda: read_counts(sampled.path))
    capsys.readouterr()
    assert main(["check", "--runs"]) == 1 and said in capsys.readouterr().out

    (sampled.path / "done.json").unlink()
    assert main(["check", "--runs"]) == 1
    said = "rollouts was changed: up to step"
    assert said in capsys.readouterr().out
    assert said in refusal(small) and not sampled.finished


def test_rollouts_after_the_checkpoint_are_drawn_again_and_their_digest_is_the_same(sampled):
    done = json.loads((sampled.path / "done.json").read_text())["sha256"]["rollouts"]
    (sampled.path / "done.json").unlink()
    last = sampled.rollouts[-1]
    later = last.with_name("step-00099999.parquet")
    shutil.copy(last, later)  # as a kill between the rollouts and their checkpoint leaves them
    assert main(["check", "--runs"]) == 0
    small()
    assert not later.exists()
    assert json.loads((sampled.path / "done.json").read_text())["sha256"]["rollouts"] == done


@pytest.mark.parametrize("name", ["metrics.jsonl", "groups.parquet"])
def test_a_finished_run_whose_file_was_changed_is_not_read(run, name):
    read = {"metrics.jsonl": run.records, "groups.parquet": run.groups}[name]
    content = (run.path / name).read_bytes()
    for bit in (8, 4 * len(content), 8 * len(content) - 8):
        flip(run.path / name, bit)
        assert f"{name} was changed after the run had finished" in refusal(read)
        flip(run.path / name, bit)
    (run.path / name).unlink()
    assert f"{name} was removed after the run had finished" in refusal(read)


def test_check_runs_verifies_every_run_that_is_stored(run, capsys):
    other = small(seed=run.params["parameters"]["seed"] + 1)
    (other.path / "done.json").unlink()
    capsys.readouterr()
    assert main(["check", "--runs"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "all is well"
    assert {f"ok    run {each.id}" for each in (run, other)} == set(said[:-1])

    damaged = [checkpoint(run), other.path / "metrics.jsonl"]
    for path, bit in zip(damaged, (-9, 8 * 20), strict=True):
        flip(path, bit)
    assert main(["check", "--runs"]) == 1
    *faults, last = capsys.readouterr().out.splitlines()
    assert last == "2 faults"
    assert all(
        any(line.startswith("FAULT") and str(path) in line for line in faults) for path in damaged
    )


# --- Disks that refuse ----------------------------------------------------------------------------


def test_a_disk_that_is_full_is_one_sentence_and_the_run_goes_on_when_there_is_room(
    trained, monkeypatch, tmp_path, capsys
):
    """`capsys` keeps what is printed in memory: the limit counts for pytest's own files too."""
    original = trained("digits", log_every=1)
    monkeypatch.setenv("LAB_RUNS", str(tmp_path))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = checkpoint(original).stat().st_size
    limits = {
        10: "provenance.json",
        largest - 1: "step-",
        11: "metrics.jsonl",
        2000: "groups.parquet",
    }
    try:
        for limit, name in limits.items():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            said = refusal(small)
            assert re.search(rf"/{name}\S* cannot be written \(File too large\): make room", said)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    run = small()
    assert run.records() == original.records() and run.groups().equals(original.groups())
    done, expected = ({**each.done, "seconds": 0.0} for each in (run, original))
    assert done["sha256"].pop("provenance.json") != expected["sha256"].pop("provenance.json")
    assert done == expected  # but for provenance, which says that the run was resumed
    assert not [*run.path.rglob(".*.[0-9]*")]  # no half-written file is left


def test_a_folder_in_which_nothing_can_be_made_is_one_sentence(capsys, monkeypatch):
    monkeypatch.setenv("LAB_RUNS", "")  # main sets it
    assert main(["--runs", "/sys/lab", "train", "tabular", "scale=smoke"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("lab: /sys/lab/tabular/") and said.count("\n") == 1
    assert "cannot be written (" in said and "lab --runs FOLDER" in said
