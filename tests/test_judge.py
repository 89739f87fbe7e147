"""Exact verdicts: by kind of gold, on the labelled pairs, and on the golds of data sets."""

import csv
import importlib
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from lab.judge.equality import read_gold, settle, split_tolerance
from lab.judge.verifier import Verifier
from lab.llm.data.datasets import DATASETS, load

DATA = Path(__file__).parent / "data"
CORPUS = Path(__file__).parents[1] / "data" / "judge"
RIGHT = [
    (r"4.5\times10^{33}", "4.5e33"), ("4.5 * 10^33", "4.5e33"), (r"1.6 \cdot 10^{-19}", "1.6e-19"),
    ("0.333...", r"\frac{1}{3}"), (r"0.1\overline{6}", "1/6"), (r"\sin 30^\circ", r"\frac12"),
    ("i^2", "-1"), ("√51", r"\sqrt{51}"), ("½ – 1", "-0.5"), ("x⁴ ± α", r"x^4\pm\alpha"),
    (r"5~\mathrm{km}", r"5000\text{ m}"), (r"10,\! 080", "10080"), (r"1\frac12", "3/2"),
    (r"50\%", "0.5"), ("36=x", "36"), (r"\textbf{(A)}\ 12", "A"), (r"\textbf{(A)}\ 12", "12"),
    ("3:30 PM", r"3:30\text{ p.m.}"), (r"\frac{1}{2004!}", "1/2004!"), (r"0<x\le 4", "(0,4]"),
    (r"(-\infty,2)\cup(2,\infty)", r"x\ne 2"), (r"\sqrt{3+2\sqrt2}", r"1+\sqrt2"),
    (r"x=1, y=2", "(1,2)"), (r"2x-y+1=0", "y=2x+1"), (r"\{x \mid x>3\}", "x>3"), ("2516", "2516_8"),
    (r"\text{no solution}", r"\emptyset"), ("100, 300, 200", "100,200,300"), ("Option C", "C"),
    (r"|x|\le 2", "[-2,2]"), (r"5\ \mu\text{m}", r"5\cdot 10^{-6}\text{ m}"),
    (r"f^{-1}(x)=\frac{x-3}{2}", r"\frac{x-3}{2}"), (r"\mathbb{R}\setminus\{0\}", r"x\ne 0"),
    (r"\text{all real numbers}", r"(-\infty,\infty)"),
    (r"9.8\,\mathrm{m\,s^{-2}}", r"9.8\text{ m/s}^2"),
    (r"4\text{ hours}\ 30\text{ minutes}", r"4.5\text{ hours}"), (r"\{100,200\}", "200, 100"),
    (r"\left[\begin{array}{c}1\\2\end{array}\right]", r"\begin{pmatrix}1\\2\end{pmatrix}"),
    (r"\begin{pmatrix}1\\[2mm]2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix}"),
    (r"\begin{cases}2x & \text{if }x<0\\1+x & x\ge0\end{cases}",
     r"f(x)=\begin{cases}x+1 & x\ge0\\2x & x<0\end{cases}"),
    (r"x=2k\pi+\frac{\pi}{6},\ k\in\mathbb{Z}", r"\frac{\pi}{6}+2\pi n, n \text{ an integer}"),
    (r"x\equiv 5 \ (\text{mod } 3)", r"x \equiv 2 \pmod{3}"), (r"-{23 \over 4}", r"-\frac{23}{4}"),
    (r"210\ \frac{\text{m}}{\text{s}}", r"210\text{ m/s}"),
    (r"130\text{ dollars and }41\text{ cents}", r"\$130.41"),
    (r"15 \text{ July}", r"\text{July 15}"), (r"\text{Twenty-one}", "21"), ("6", r"\text{six}"),
    (r"D \text{ and } E", "D, E"), ("P(A)=0.25", r"\frac14"),
    (r"10\,\text{cis}\,60^\circ", r"5+5\sqrt{3}i"), (r"20\cos 90^\circ+20i\sin 90^\circ", "20i"),
    (r"\textcolor{blue}{\underline{\mathbf{6\sqrt{5}}}}", r"6\sqrt5"), ("x^2<49", "(-7,7)"),
    (r"x^2\ge 9", r"(-\infty,-3]\cup[3,\infty)"), ("C(5,3)", "10"), (r"{}_{5}P_{3}", "60"),
    (r"5x^5\exp(x^2)", "5x^{5}e^{x^2}"), ("11 : 14 : 16", "11:14:16"), ("(x+1)^2", "x^2+2x+1"),
    (r"2\sqrt{2}", r"\sqrt{8}"), (r"\pi/2", r"\frac{\pi}{2}"), ("1,2", "2, 1"), ("x=5", "5"),
    (r"\{1,2\}", "2,1"), ("x>3", "3<x"), ("5!", "120"), (r"\log_2 8", "3"), (r"\pm 3", "-3,3"),
    ("2^{10}", "1024"), (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}"), (r"\binom{5}{2}", "10"),
    ("(1,2)", r"\left(1,2\right)"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix} 1 \\ \frac{4}{2} \end{pmatrix}"),
    (r"3\times 4", "12"),
]  # fmt: skip
WRONG = [
    ("33e4.5", "4.5e33"), ("9.1e-31", "1.6e-19"), ("2516_9", "2516_8"),
    ("0.3333333333333333", r"\frac{1}{3}"), (r"\sin 30", r"\frac12"),
    ("1.414213562373095048801688724209698", r"\sqrt2"), ("1/2006!", "1/2004!"), ("ABC", "CAB"),
    ("(2,1)", r"\{1,2\}"), (r"5\text{ is not the answer}", "5"),
    (r"30\text{ hours}", r"30\text{ minutes}"), (r"\textbf{(B)}\ 12", r"\textbf{(A)}\ 12"),
    (r"\textbf{(A)}\ 13", r"\textbf{(A)}\ 12"), (r"3:30\text{ a.m.}", r"3:30\text{ p.m.}"),
    (r"0<x<4", "(0,4]"), ("x", r"\sqrt{x^2}"), (r"\sqrt{2}+10^{-9999}", r"\sqrt{2}"),
    ("2+2=5", "5"), (r"1\approx 2", "2"), ("5x", "5"), ("0:0", "3:2"), (r"|x|\ge 2", "[-2,2]"),
    ("|x|<2", "[-2,2]"), (r"7\in 5", "5"),
    (r"\begin{cases}2x & x\ge0\\x+1 & x<0\end{cases}",
     r"\begin{cases}x+1 & x\ge0\\2x & x<0\end{cases}"),
    (r"\frac{\pi}{6}+\pi k, k\in\mathbb{Z}", r"\frac{\pi}{6}+2\pi k, k\in\mathbb{Z}"),
    (r"\frac{\pi}{6}", r"\frac{\pi}{6}+2\pi k, k\in\mathbb{Z}"), ("2", r"x \equiv 2 \pmod{3}"),
    (r"x \equiv 2 \pmod{6}", r"x \equiv 2 \pmod{3}"),
    (r"x \not\equiv 2 \pmod{3}", r"x \equiv 2 \pmod{3}"),
    (r"5\text{ m and }3\text{ m}", r"8\text{ m}"),
    (r"2\text{ dollars and }5\text{ hours}", r"\$2.05"), (r"\text{July 16}", r"\text{July 15}"),
    (r"\text{sixteen}", "6"), (r"\text{D or E}", "D, E"), (r"\underline{1}+\underline{2}", "1"),
    (r"x^2<49", "[-7,7]"), (r"x^2>49", "(-7,7)"), ("P(5,3)", "10"), (r"\cos 89.9999999^\circ", "0"),
    (r"5+e^{-2000}", "5"), (r"x+e^{-x^2-99}", "x"), ("11 : 16 : 14", "11:14:16"), ("x^2", "x^2+1"),
    ("(1,2)", "(2,1)"), ("[1,2)", "[1,2]"), (r"\sqrt{2}", "1.41"), ("y=5", "x=5"), ("x>3", "x<3"),
    ("1,2", "1,3"), (r"\text{Monday}", r"\text{Tuesday}"), ("B", r"\text{(A)}"), ("1/0", "5"),
    ("2", r"\pi"), (r"\sqrt[\sin n-i]{\binom{\infty}{A}^{100}}^{100}", "9+w"),  # took nine seconds
]  # fmt: skip


@pytest.mark.parametrize("answer, gold", RIGHT)
def test_another_way_to_say_the_gold_is_right(answer, gold):
    assert settle(answer, gold) == "exact"


@pytest.mark.parametrize("answer, gold", WRONG)
def test_what_is_only_near_the_gold_is_wrong(answer, gold):
    assert settle(answer, gold) in ("different", "unreadable")


def test_a_tolerance_holds_where_a_set_declares_one_and_for_numbers_alone():
    gold = "4.5e33 [within 0.01 of it]"
    assert split_tolerance(gold)[0] == "4.5e33"
    assert settle(r"4.54\times10^{33}", gold) == "exact"
    assert (
        settle(r"4.56\times10^{33}", gold) == settle(r"4.54\times10^{33}", "4.5e33") == "different"
    )
    assert settle("1.001x", "x [within 0.01 of it]") == "different"
    assert DATASETS["minerva"].tolerance and not DATASETS["math500"].tolerance


NOT_UNDERSTOOD = [
    "f'(x)", r"x \bmod 3", "1/0", "(((", r"9^{9^{9^9}}", r"2x\approx 3", r"x\approx 3", "==", ",",
    r"\begin{pmatrix}\end{pmatrix}", r"\gcd(4, 6)", "gcd(12,18)", "lcm(4, 6)",
    "max(1,2)", "min(1, 2)",
]  # fmt: skip


@pytest.mark.parametrize("gold", NOT_UNDERSTOOD)
def test_a_gold_that_is_not_understood_has_no_verdict(gold):
    assert read_gold(gold) is None and settle("5", gold) is None


HOSTILE = [
    (r"(1,2)\cup 3:4", "(1,2]"), ("a(b+1,c+1)^2", "5"), ("x(1,2)^2+x", "5"),
    (r"((\pm 1, \pm 2), \mp 3)", "(1,2)"), (r"\begin{cases}\end{cases}", "5"),
]  # fmt: skip


@pytest.mark.parametrize("text, other", HOSTILE)
def test_a_text_that_nobody_foresaw_is_wrong_as_an_answer_and_ends_no_run_as_a_gold(text, other):
    assert settle(text, other) in ("different", "unreadable")
    assert settle(other, text) in ("different", None)


def test_an_error_that_nobody_foresaw_is_no_verdict_and_ends_no_run(monkeypatch):
    assert read_gold("1234") is not None

    def broken(text):
        raise IndexError(text)

    monkeypatch.setattr("lab.judge.equality.read", broken)
    assert settle("12 + 1", "1234") == "unreadable" and read_gold("12 + 1234") is None


def rows(name: str) -> list[dict[str, str]]:
    with (CORPUS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name, least", [("pairs", 400), ("later", 600)])
def test_every_eighth_labelled_pair_that_the_judge_was_tuned_on_gets_its_label(name, least):
    pairs = [row for row in rows(name) if row["split"] == "tuned"][::8]
    with Verifier(error_limit=0.0) as one:
        verdicts = one.check(
            [rf"\boxed{{{row['answer']}}}" for row in pairs], [row["gold"] for row in pairs]
        )
    assert len(pairs) > least
    outcomes = [verdict.outcome for verdict in verdicts]
    assert [
        row for row, outcome in zip(pairs, outcomes, strict=True) if outcome != row["label"]
    ] == []


@pytest.mark.parametrize("rules, names", [("build", ["pairs"]), ("later", ["later", "again"])])
def test_the_labelled_pairs_are_what_their_rules_make(rules, names, tmp_path):
    code = (
        "import importlib, pathlib, sys; sys.path.insert(0, sys.argv[1]);"
        " rules = importlib.import_module(sys.argv[2]); rules.HERE = pathlib.Path(sys.argv[3]);"
        " rules.OUT = rules.HERE / 'pairs.csv'; rules.main()"
    )
    subprocess.run([sys.executable, "-c", code, str(CORPUS), rules, str(tmp_path)], check=True)
    for name in names:
        assert (tmp_path / f"{name}.csv").read_bytes() == (CORPUS / f"{name}.csv").read_bytes()


def test_later_rules_are_held_out_whole_and_no_pair_is_in_two_files():
    splits = defaultdict(set)
    for row in rows("later"):
        splits[row["family"], row["reason"]].add(row["split"])
    assert all(len(found) == 1 for found in splits.values())
    assert 0.25 < sum(found == {"held out"} for found in splits.values()) / len(splits) < 0.45
    again, known = ({(row["answer"], row["gold"]) for row in rows(n)} for n in ("again", "pairs"))
    assert not again & known and len(known) == len(rows("pairs")) >= 5000


def test_the_rates_on_the_second_authors_pairs_are_those_of_this_judge(monkeypatch):
    monkeypatch.syspath_prepend(str(CORPUS))
    measure = importlib.import_module("measure")
    kept = rows("second_author")
    now = measure.of_second_author("open") + measure.of_second_author("held_back")
    assert [row for row in kept if row["when"] == "now"] == now
    assert "\n".join(measure.second_author_table(kept)) in measure.PAGE.read_text("utf-8")


def fixture_golds() -> list[str]:
    found = []
    for path in sorted(DATA.iterdir()):
        if path.suffix in (".jsonl", ".json") and path.stem in ("math500", "gsm8k", "minerva"):
            spec = DATASETS[path.stem]
            columns = (spec.question, spec.answer)
            found += [problem.answer for problem in load(str(path), columns=columns).problems]
    return [gold.rpartition("####")[2].strip() for gold in found]


GOLDS = [
    r"\frac{3}{4}", "3", "-2", r"2\sqrt{3}", r"\left(3,\frac{\pi}{2}\right)", r"\text{(C)}",
    r"\text{Evelyn}", r"(-\infty,2)\cup(3,\infty)", r"\{1\pm\sqrt{5},-2\}", "52_8", "6-5i",
    r"15\mbox{ cm}^2", r"\$18.90", "x^3+3x-6", r"\begin{pmatrix}1/5\\-18/5\end{pmatrix}",
    "4.5e33 [within 0.01 of it]", r"n\ge 5", "y = 2x + 3", r"x \equiv 2 \pmod{3}",
    r"\begin{cases} x+6 & x<0 \\ 19x & x\ge 0 \end{cases}", r"\text{July 15}", r"\text{three}",
    r"x = 15\sqrt{11} \approx 49.749",
    r"x = \frac{\pi}{6} + 2\pi k, k \in \mathbb{Z}",
]  # fmt: skip


def test_every_gold_is_read_and_another_answer_is_wrong():
    for gold in GOLDS + fixture_golds():
        bare = split_tolerance(gold)[0]
        said = [bare, rf"\displaystyle {bare}", "7919x^3", f"{bare}, 987654"]
        verdicts = Verifier().check([rf"\boxed{{{answer}}}" for answer in said], [gold] * 4)
        outcomes = [verdict.outcome for verdict in verdicts]
        assert outcomes == ["right", "right", "wrong", "wrong"], gold
