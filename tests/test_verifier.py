"""The verdicts, and what a hostile response can and cannot do."""

import os
import threading
import time
from pathlib import Path

import hostile
import pytest
from refusals import refusal

from lab import LabError, Rollout, make_groups
from lab.judge.verifier import OUTCOMES, Verifier, verify

LATE = "9^{9^{9^9}}"  # no comparison with a number ends


def box(text: str) -> str:
    return rf"So it is \boxed{{{text}}}."


def megabytes() -> float:
    """Resident memory of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


REASONS = [
    (box("5"), "5", "exact"), (box("05.0"), "5", "exact"), (box(r"\frac{6}{8}"), "0.75", "exact"),
    (box("1,234"), "1234", "exact"), (box(r"5\text{ cm}"), "5", "exact"),
    (box(r"10\%"), "10", "exact"), (box(r"\text{Monday}"), "Monday", "exact"),
    (box("x^{2}"), "$x^2$", "exact"), (box("5"), r"\boxed{5}", "exact"),
    (box("北京"), "北京", "exact"), (box("5"), "6", "different"),
    (box("0.333333"), "1/3", "different"), (box(r"10\%"), "0.1", "exact"), ("5", "5", "no answer"),
    (r"\boxed{}", "5", "no answer"), (r"\boxed{5", "5", "no answer"), (box("$"), "5", "no answer"),
    (box("1" * 501), "1" * 501, "too long"), (box("int('5')"), "5", "unreadable"),
    (box("5\u202e"), "5", "unreadable"), (box("(" * 30 + "5" + ")" * 30), "5", "unreadable"),
    (box("5"), "", "unreadable gold"), (box("5"), "f'(x)", "unreadable gold"),
    (box("f' (x)"), "f'(x)", "exact"), (box("x"), "1" * 600, "unreadable gold"),
]  # fmt: skip


@pytest.mark.parametrize("response, gold, reason", REASONS)
def test_a_verdict_has_its_reason(response, gold, reason):
    (verdict,) = Verifier().check([response], [gold])
    assert (verdict.reason, verdict.outcome) == (reason, OUTCOMES[reason])


def test_a_lenient_verifier_also_takes_what_is_not_boxed():
    assert verify("It makes 5.", "5", "lenient").outcome == "right"
    assert verify("It makes 5.", "5", "strict").reason == "no answer"
    assert verify(r"\boxed{6}, or 5", "5", "lenient").reason == "different"


def test_a_verdict_gives_the_reward_of_a_rollout_and_an_error_a_lost_one():
    verdicts = Verifier().check([box("5"), box("6"), box("7")], ["5", "5", "f'"])
    assert [verdict.reward for verdict in verdicts] == [1.0, 0.0, None]
    (group,) = make_groups(
        [Rollout("p", i, verdict.reward) for i, verdict in enumerate(verdicts)], "score"
    )
    assert (group.N, group.K) == (2, 1)


def test_a_verdict_names_the_answer_that_was_found():
    assert verify(box(r" \frac{1}{2} "), "0.5").answer == r"\frac{1}{2}"
    assert verify("?", "5").answer is None


@pytest.mark.parametrize(
    "responses, golds, sentence",
    [
        (["a"], [], "1 responses and 0 golds: give every response its gold answer"),
        (["a", None], ["1", "2"], "response 1 is None: it must be text; leave lost rollouts out"),
        (["a"], [5], "gold 0 is 5: it must be text"),
    ],
)
def test_wrong_input_is_refused(responses, golds, sentence):
    with pytest.raises(LabError, match=sentence):
        Verifier().check(responses, golds)


def test_settings_out_of_range_are_refused():
    with pytest.raises(LabError, match="style = 'loose': it must be one of 'strict', 'lenient'"):
        Verifier("loose")
    with pytest.raises(LabError, match="error_limit = 2"):
        Verifier(error_limit=2)


def test_verdicts_come_in_the_order_of_the_answers():
    answers = [f"x+{i % 7}" if i % 3 else f"{i % 7}" for i in range(60)]
    verdicts = Verifier().check([box(answer) for answer in answers], ["3+x", "3"] * 30)
    expected = [answer == ("3" if i % 2 else "x+3") for i, answer in enumerate(answers)]
    assert [verdict.outcome == "right" for verdict in verdicts] == expected


def test_many_threads_may_share_a_verifier():
    one, found = Verifier(), {}

    def work(i):
        verdicts = one.check([box(f"x+{i}"), box("5")], [f"{i}+x", "6"])
        found[i] = [verdict.outcome for verdict in verdicts]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {i: ["right", "wrong"] for i in range(6)}


# --- The share of errors ------------------------------------------------------------------------


def test_errors_above_the_limit_stop_the_run_and_say_why():
    one = Verifier()
    verdicts = one.check([box("5")] * 98 + [box("x")] * 2, ["5"] * 98 + ["f'"] * 2)
    assert verdicts[-1].outcome == "error"
    assert refusal(one.check, [box("x")], ["g'"]) == (
        "3 of 101 answers could not be judged, for example 'x' against the gold \"g'\": the"
        " limit is 2.0%; skip the golds that Verifier.unparsable names, or raise error_limit"
    )


def test_fewer_than_fifty_checks_have_no_rate():
    one = Verifier()
    assert {verdict.outcome for verdict in one.check([box("x")] * 49, ["f'"] * 49)} == {"error"}
    with pytest.raises(LabError, match="50 of 50 answers"):
        one.check([box("5")], ["f'"])


def test_old_errors_are_forgotten():
    one = Verifier()
    one.check([box("x")] * 20, ["f'"] * 20)
    one.error_limit = 1.0
    one.check([box("5")] * 1000, ["5"] * 1000)
    one.error_limit = 0.01
    assert one.check([box("x")], ["f'"])[0].outcome == "error"


def test_golds_that_cannot_serve_are_found():
    golds = [
        *r"5|x^2||\frac{1|1/0|Monday|北京|\int x dx|\boxed{7}|f'(x)|\gcd(9^{9^9},3)".split("|")
    ]
    golds += ["1" * 600, "(1,2)", "5 [within 0.01 of it]"]
    assert [*Verifier().unparsable(golds)] == [2, 3, 4, 7, 9, 10, 11]


# --- Hostile responses --------------------------------------------------------------------------


def test_endless_answers_are_wrong_at_once_and_stop_nothing():
    endless = [LATE, f"{LATE}+i", "1e999999999", "5!!!!!", r"\binom{10^9}{10^8}", "x^{x^{9999999}}"]
    answers = [box(f"{text}+{i}") for text in endless for i in range(20)]
    verdicts = Verifier(error_limit=0.0).check(answers, ["5"] * 120)
    assert {(verdict.reason, verdict.reward) for verdict in verdicts} == {("unreadable", 0.0)}


@pytest.mark.parametrize("style, gold", [("strict", "5"), ("lenient", "x+1")])
def test_no_hostile_response_is_right_or_hangs_or_runs_or_fills_the_memory(
    style, gold, tmp_path, monkeypatch, ends
):
    monkeypatch.chdir(tmp_path)
    responses = hostile.responses()

    def judge() -> None:
        before, start = megabytes(), time.thread_time()
        verdicts = Verifier(style, error_limit=1.0).check(responses, [gold] * len(responses))
        reasons = [verdict.reason for verdict in verdicts]
        assert {"unreadable", "different", "no answer", "too long"} <= set(reasons)
        assert "right" not in {verdict.outcome for verdict in verdicts}
        assert time.thread_time() - start < 0.05 * len(responses)  # 14 ms for the worst, when idle
        assert megabytes() - before < 200 and hostile.MARK not in os.environ

    ends(judge, 600)
    assert not list(tmp_path.rglob("*"))
