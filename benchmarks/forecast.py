"""How well `lab forecast` forecasts, beside four baselines: `python benchmarks/forecast.py PART`.

By the rules of data/forecast/protocol.toml, from the counts in data/forecast and data/outside. What
a part measures goes to data/forecast/PART.csv: the forecasts of trainings with the uses develop,
widen, confirm and again; `stopping`, the rule that stops a training by its forecast; `others`, what
is said of other estimators. Then docs/forecast.md gets the tables of all parts that were measured,
and `lab forecast` its words of them; `page` measures nothing, `fans` writes those of the explorer.
"""

import argparse
import copy
import itertools
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import betaln, expit, gammaln, logit
from scipy.stats import binom, kendalltau, norm, t

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from lab.configurations import Config  # noqa: E402
from lab.mathematics import forecast as model  # noqa: E402
from lab.mathematics.forecast import LOG_ODDS, P  # noqa: E402
from lab.mathematics.stats import mean_interval  # noqa: E402
from lab.mathematics.weights import induced_weight  # noqa: E402
from lab.runs import configure  # noqa: E402
from lab.show.forecast import (  # noqa: E402
    FEWEST,
    FURTHEST,
    MEASURED,
    fan,
    gains,
    mean_draws,
    measured,
    visits_of,
)
from lab.toy import images, tabular  # noqa: E402
from lab.training.records import records  # noqa: E402

FOLDER, PAGE = ROOT / "data" / "forecast", ROOT / "docs" / "forecast.md"
PROTOCOL = tomllib.loads((FOLDER / "protocol.toml").read_text())
# What is measured; of stopping by itself the kinds of trainings.
PARTS = ("develop", "widen", "confirm", "again", "stopping", "others")
KINDS = ("again", "confirm", "widen", "develop", "simulated")
Counts = tuple[np.ndarray, np.ndarray]  # n and right, "problems visits"
# (counts of the first visits, recipe, visits ahead) -> of each later visit the mass at P of each
# problem, and of some equally likely paths the mean pass rate; ours the populations of the paths
Forecaster = Callable[[Counts, str, int], Iterator[tuple[np.ndarray, np.ndarray]]]


def ours(first: Counts, recipe: str, ahead: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for later in model.fit(*first, recipe).later(ahead):
        yield later.mass, later.population


def beta_mass(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Beta distributions on the grid of log-odds."""
    logs = a[:, None] * np.log(P) + b[:, None] * np.log1p(-P)
    mass = np.exp(logs - logs.max(axis=1, keepdims=True))
    return mass / mass.sum(axis=1, keepdims=True)


def discounted(first: Counts) -> Counts:
    """a and b of each problem's beta-binomial; discount and prior by the one-step log score."""
    n, right = first
    mean = right.sum() / n.sum()
    best, chosen = -np.inf, first
    for strength in (0.25, 0.5, 1, 2, 4, 8):
        for keep in (0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0):
            a, b = np.full((2, len(n)), strength) * np.array([[mean], [1 - mean]])
            was_right, was_wrong, score = np.zeros(len(n)), np.zeros(len(n)), 0.0
            for tried, k in zip(n.T, right.T, strict=True):
                before = betaln(a + was_right, b + was_wrong)
                after = betaln(a + was_right + k, b + was_wrong + tried - k)
                ways = gammaln(tried + 1) - gammaln(k + 1) - gammaln(tried - k + 1)
                score += (ways + after - before).sum()
                was_right, was_wrong = keep * was_right + k, keep * was_wrong + tried - k
            if score > best:
                best, chosen = score, (a + was_right, b + was_wrong)
    return chosen


def persistence(first: Counts, recipe: str, ahead: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    mass = beta_mass(*discounted(first))
    for _ in range(ahead):
        yield mass, (mass @ P).mean(keepdims=True)


def mean_curve(first: Counts, recipe: str, ahead: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    a, b = discounted(first)
    seen = first[0].shape[1]
    rates = first[1].sum(axis=0) / first[0].sum(axis=0)
    line = np.stack((np.ones(seen), np.log(np.arange(1, seen + 1))), axis=1)
    odds = logit(np.clip(rates, 1e-4, 1 - 1e-4))
    fit = np.linalg.lstsq(line, odds, rcond=None)[0]
    freedom = seen - 2
    noise = ((odds - line @ fit) ** 2).sum() / freedom if freedom else 0.05**2
    inverse = np.linalg.inv(line.T @ line)
    quantiles = (np.arange(99) + 0.5) / 99
    spread = t.ppf(quantiles, freedom) if freedom else norm.ppf(quantiles)
    for step in range(1, ahead + 1):
        at = np.array([1, np.log(seen + step)])
        moved = expit(logit(a / (a + b)) + (at - line[-1]) @ fit)
        means = expit(at @ fit + spread * np.sqrt(noise * (1 + at @ inverse @ at)))
        yield beta_mass(moved * (a + b), (1 - moved) * (a + b)), means


def random_walk(first: Counts, recipe: str, ahead: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    chance, cell = model.chances(*first)
    flat, still = np.ones(len(P)), np.zeros(cell.shape[1] - 1)
    start = model.smooth(chance[cell[:, 0]] * chance[cell[:, 1]])
    spread = max(
        model.SPREADS, key=lambda s: model.filtered(cell[:400], chance, start, flat, s, still)[0]
    )
    start = model.smooth(model.backward(cell, chance, flat, spread, still))
    mass = model.filtered(cell, chance, start, flat, spread, still)[1]
    for _ in range(ahead):
        mass = mass @ model.move(0.0, flat, spread)
        yield mass, (mass @ P).mean(keepdims=True)


def logistic(first: Counts, recipe: str, ahead: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    n, right = first
    seen = n.shape[1]

    def start_and_history(slope: float) -> tuple[np.ndarray, np.ndarray]:
        logs = np.zeros((len(n), len(P)))
        for visit in range(seen):
            pairs, cell = np.unique((n[:, visit], right[:, visit]), axis=1, return_inverse=True)
            p = expit(LOG_ODDS + slope * (visit - seen + 1))
            logs += binom.logpmf(pairs[1][:, None], pairs[0][:, None], p)[cell.ravel()]
        largest = logs.max(axis=1, keepdims=True)
        history = np.exp(logs - largest)
        start = model.smooth(history)
        return history * start, largest[:, 0]

    def loss(slope: float) -> float:
        joint, largest = start_and_history(slope)
        return -float((np.log(joint.sum(axis=1)) + largest).sum())

    slope = minimize_scalar(loss, bounds=(-1, 1), method="bounded", options={"xatol": 1e-3}).x
    bend = (loss(slope - 0.02) - 2 * loss(slope) + loss(slope + 0.02)) / 0.02**2
    slopes = slope + norm.ppf((np.arange(31) + 0.5) / 31) / np.sqrt(max(bend, 1.0))
    joint, _ = start_and_history(slope)
    mass = joint / joint.sum(axis=1, keepdims=True)
    for step in range(1, ahead + 1):
        paths = [model.kernel(LOG_ODDS + step * each, 0.05) for each in slopes]
        means = np.array([mass.mean(axis=0) @ path @ P for path in paths])
        yield mass @ np.mean(paths, axis=0), means


FORECASTERS: dict[str, Forecaster] = {
    "lab forecast": ours,
    "persistence": persistence,
    "random walk": random_walk,
    "logistic drift": logistic,
    "mean curve": mean_curve,
}


class Score(NamedTuple):
    """Log score and coverage of later groups; the mean at the last visit, and its interval."""

    log_score: float
    coverage: float
    mean: float
    low: float
    high: float
    dead: bool | None

    @property
    def covers(self) -> bool:
        return self.low <= self.mean <= self.high


def score(forecaster: Forecaster, counts: Counts, first: int, recipe: str) -> Score:
    n, right = counts
    outside = (1 - PROTOCOL["level"]) / 2
    logs, covered = [], []
    ahead = min(n.shape[1] - first, FURTHEST * first)
    later = enumerate(forecaster((n[:, :first], right[:, :first]), recipe, ahead), first)
    for visit, (mass, means) in later:  # noqa: B007
        tried, k = n[:, visit], right[:, visit]
        for size in np.unique(tried[tried > 0]):
            rows = tried == size
            chance = mass[rows] @ binom.pmf(np.arange(size + 1), size, P[:, None])
            at = np.arange(rows.sum()), k[rows]
            chosen = np.maximum(chance[at], 1e-12)
            upper = chance.cumsum(axis=1)[at]
            inside = np.minimum(upper, 1 - outside) - np.maximum(upper - chosen, outside)
            logs.extend(np.log(chosen))
            covered.extend(np.maximum(inside, 0) / chosen)
    there, dead = tried > 0, None
    if means.ndim == 2:
        if len(np.unique(tried[there])) == 1:
            none = (1 - P) ** tried[there][0]
            each = mass[there] @ none
            noise = np.sqrt((each * (1 - each)).sum()) / len(each)
            shares = (means @ none)[:, None] + noise * norm.ppf((np.arange(99) + 0.5) / 99)
            low, high = np.quantile(np.clip(shares, 0, 1), (outside, 1 - outside))
            dead = bool(low <= (k[there] == 0).mean() <= high)
        means = means @ P
    draws = mean_draws(mass[there], means, tried[there])
    low, high = np.quantile(draws, (outside, 1 - outside))
    mean = float((k[there] / tried[there]).mean())
    return Score(float(np.mean(logs)), float(np.mean(covered)), mean, float(low), float(high), dead)


def trainings(use: str) -> Iterator[tuple[str, str, Counts]]:
    """Names, recipes and counts of the trainings of a use."""
    recorded = pd.read_parquet(FOLDER / "counts.parquet")
    for training in PROTOCOL["training"]:
        if training["use"] != use:
            continue
        if "command" in training:
            table = recorded[recorded["training"] == training["name"]]
            if table.empty:
                print(f"{training['name']} has not been trained", file=sys.stderr)
                continue
            recipe = re.search(r"estimator=(\w+)", training["command"])[1]
        else:
            table = pd.read_parquet(ROOT / training["file"])
            recipe = "grpo"
        columns = (table[name].to_numpy() for name in ("problem", "visit", "n", "right"))
        yield training["name"], recipe, visits_of(*columns)


def rows_of(use: str) -> pd.DataFrame:
    rows = []
    for name, recipe, (n, right) in trainings(use):
        for part in PROTOCOL["fits"]:
            first = max(2, round(part * n.shape[1]))
            about = {"training": name, "problems": len(n), "visits": n.shape[1], "part": part}
            about["known"] = first >= FEWEST
            for by, forecaster in FORECASTERS.items():
                found = score(forecaster, (n, right), first, recipe)
                rows.append({**about, "by": by, **found._asdict(), "covers": found.covers})
        print(pd.DataFrame(rows[-15:]).round(3).to_string(), file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame) -> list[str]:
    """The marks, as lines of a table of Markdown, over the forecasts that the command makes."""
    lines = [
        "| first part | by | log score | ours better by | coverage | mean at the end inside"
        " | dead groups inside |",
        "|---|---|---|---|---|---|---|",
    ]
    for part, of_part in table[table["known"]].groupby("part"):
        mine = of_part[of_part["by"] == "lab forecast"].set_index("training")
        for by in FORECASTERS:
            rows = of_part[of_part["by"] == by].set_index("training")
            gain = ""
            if by != "lab forecast":
                each = mean_interval(mine["log_score"] - rows["log_score"])
                gain = f"{each.point:.3f} [{each.low:.3f}, {each.high:.3f}]"
            dead = rows["dead"].dropna()
            lines.append(
                f"| {part:.0%} | {by} | {rows['log_score'].mean():.3f} | {gain} |"
                f" {rows['coverage'].mean():.3f} | {rows['covers'].sum()} of {len(rows)} |"
                f" {f'{int(dead.sum())} of {len(dead)}' if len(dead) else ''} |"
            )
    return lines


def by_training(table: pd.DataFrame) -> list[str]:
    """Each training, as lines of a table of Markdown: ours, and the best baseline."""
    lines = [
        "| training | problems, visits | first part | log score | best baseline | coverage |"
        " mean at the end |",
        "|---|---|---|---|---|---|---|",
    ]
    for (name, part), rows in table.groupby(["training", "part"], sort=False):
        mine = rows[rows["by"] == "lab forecast"].iloc[0]
        others = rows[rows["by"] != "lab forecast"]
        best = others.loc[others["log_score"].idxmax()]
        outside = "" if mine["covers"] else ", outside"
        outside += "" if mine["known"] else "; not told"
        lines.append(
            f"| {name} | {mine['problems']}, {mine['visits']} | {part:.0%} |"
            f" {mine['log_score']:.3f} | {best['log_score']:.3f} ({best['by']}) |"
            f" {mine['coverage']:.3f} | {mine['mean']:.3f} [{mine['low']:.3f},"
            f" {mine['high']:.3f}]{outside} |"
        )
    return lines


# --- The rule that stops a training ---------------------------------------------------------------


class Stopped(NamedTuple):
    """The first stop of a training by the rule: at which part of its visits, and what it missed.

    `gain` is what the mean rose by within the visits ahead, `rest` to the end; all nan without one.
    """

    part: float
    gain: float
    rest: float


def first_stops(counts: Counts, recipe: str, rates: np.ndarray) -> dict[float, Stopped]:
    """The rule applied at its parts, by `least`; `rates` are the true means, or K/n, by visit."""
    rule, (n, right) = PROTOCOL["stopping"], counts
    visits = n.shape[1]
    stops: dict[float, Stopped] = {}
    for part in rule["parts"]:
        seen = max(2, round(part * visits))
        if seen < FEWEST:  # the rest is not known
            continue
        last = min(visits, seen + rule["ahead"] * seen)
        found = model.fit(n[:, :seen], right[:, :seen], recipe)
        *_, later = found.later(last - seen)
        expected = np.quantile(gains(found, later), PROTOCOL["level"])
        before = rates[seen - 2 : seen].mean()
        gain, rest = rates[last - 2 : last].mean() - before, rates[-2:].mean() - before
        for least in rule["least"]:
            if expected <= least:
                stops.setdefault(least, Stopped(seen / visits, gain, rest))
        if len(stops) == len(rule["least"]):
            break
    return stops


def simulated() -> Iterator[tuple[str, str, Counts, np.ndarray]]:
    """Trainings whose pass rates are known: name, recipe, counts, and true means by visit."""
    rule = PROTOCOL["stopping"]
    usual = configure("tabular").learning_rate
    for recipe in rule["estimators"]:
        for rate in rule["rates"]:
            for seed in range(rule["seeds"]):
                given = {"learning_rate": rate * usual, "log_every": 10, "seed": seed}
                config = configure("tabular", estimator=recipe, rollouts=16, **given)
                told = [each.groups["pass_rate"] for each in records(tabular.train(config))]
                p = np.stack(told, axis=1).astype(float)
                n = np.full(p.shape, 16)
                right = np.random.default_rng(seed).binomial(n, p)
                yield f"rate {rate:g}", recipe, (n, right), p.mean(axis=0)


def stops(kind: str) -> pd.DataFrame:
    """A row for each training and `least`."""
    rows = []
    if kind == "simulated":
        each = simulated()
    else:
        each = (
            (name, recipe, counts, (counts[1].sum(axis=0) / counts[0].sum(axis=0)))
            for name, recipe, counts in trainings(kind)
        )
    for name, recipe, counts, rates in each:
        found = first_stops(counts, recipe, rates)
        for least in PROTOCOL["stopping"]["least"]:
            stop = found.get(least, Stopped(np.nan, np.nan, np.nan))
            rows.append({"name": name, "recipe": recipe, "least": least} | stop._asdict())
        print(rows[-2:], file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def stopping_lines(stops: pd.DataFrame) -> list[str]:
    """The rule's table in Markdown."""
    lines = [
        "| trainings | no gain above | stopped | of them gained more within the visits ahead |"
        " to the end | first stop, mean part of the visits |",
        "|---|---|---|---|---|---|",
    ]
    for kind, table in stops.groupby("kind", sort=False):
        groups = [(kind, table)]
        if kind == "simulated":
            groups = [(f"simulated, {name}", part) for name, part in table.groupby("name")]
        for name, part in groups:
            for least, rows in part.groupby("least"):
                stopped = rows.dropna()
                lines.append(
                    f"| {name} | {least:g} | {len(stopped)} of {len(rows)} |"
                    f" {(stopped['gain'] > least).sum()} | {(stopped['rest'] > least).sum()} |"
                    f" {f'{stopped.part.mean():.2f}' if len(stopped) else ''} |"
                )
    return lines


# --- Another estimator, another N -----------------------------------------------------------------


def ends(train: Callable[..., Any], config: Config, state: dict[str, Any]) -> float:
    """The mean of the true pass rates after the last step."""
    *_, last = records(train(config, state))
    return float(last.groups["pass_rate"].mean())


def stopped_trainings() -> Iterator[tuple[dict[str, Any], Counts, list[float]]]:
    """Stopped trainings: what each is, its counts, and the true ends under each of the others."""
    rule = PROTOCOL["others"]
    trainers: dict[str, Callable[..., Any]] = {
        "tabular": tabular.train,
        "digits": images.train_digits,
    }
    for world, recipe, rate, seed in itertools.product(
        rule["worlds"], rule["trained"], rule["rates"], range(rule["seeds"])
    ):
        train = trainers[world]
        usual: Any = configure(world)
        given = {"learning_rate": rate * usual.learning_rate, "seed": seed}
        given["log_every"] = usual.steps // (rule["records"] - 1)
        config = configure(world, estimator=recipe, rollouts=16, **given)
        stops = {round(part * rule["records"]): part for part in rule["parts"]}
        seen = []
        for record in records(train(config)):
            seen.append(record.groups["pass_rate"].astype(float))
            if len(seen) in stops:
                state = {name: copy.deepcopy(each) for name, each in record.state().items()}
                p = np.stack(seen, axis=1)
                n = np.full(p.shape, 16)
                right = np.random.default_rng(seed).binomial(n, np.clip(p, 0, 1))
                truth = []
                for other in rule["others"]:
                    spec, N = other.rsplit(", ", 1)
                    changed = configure(world, estimator=spec, rollouts=int(N), **given)
                    truth.append(ends(train, changed, copy.deepcopy(state)))
                about = {"world": world, "recipe": recipe, "rate": rate, "seed": seed}
                yield about | {"part": stops[len(seen)]}, (n, right), truth
                if len(seen) == max(stops):
                    break


def pull(estimator: str, N: int) -> np.ndarray:
    """How far a step moves the log-odds at each point: p(1-p) |w_N(p)|."""
    return P * (1 - P) * np.abs(induced_weight(estimator, N, P))


def others() -> pd.DataFrame:
    """A row for each stopped training; without an answer all but `known` is nan."""
    rule, rows = PROTOCOL["others"], []
    outside = (1 - PROTOCOL["level"]) / 2
    for about, (n, right), truth in stopped_trainings():
        found = model.fit(n, right, about["recipe"])
        row = about | {"known": found.weighted}
        if found.weighted:
            means, steps, covered = [], [], []
            for other, true in zip(rule["others"], truth, strict=True):
                spec, N = other.rsplit(", ", 1)
                drift = pull(spec, int(N)) / pull(about["recipe"], 16).max()
                changed = found._replace(drift=drift)
                *_, later = changed.later(rule["records"] - n.shape[1])
                draws = mean_draws(later.mass, later.population @ P, np.full(len(n), np.inf))
                low, high = np.quantile(draws, (outside, 1 - outside))
                means.append(draws.mean())
                covered.append(low <= true <= high)
                steps.append(found.mass.mean(axis=0) @ (pull(spec, int(N)) * P * (1 - P)))
            row |= {"tau": kendalltau(means, truth).statistic, "covered": np.mean(covered)}
            row |= {"one step": kendalltau(steps, truth).statistic, "regret": max(truth)}
            row["regret"] -= truth[int(np.argmax(means))]
            row["spread"] = max(truth) - min(truth)
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    return pd.DataFrame(rows)


def others_lines(table: pd.DataFrame) -> list[str]:
    """What was forecast of others, in Markdown."""
    lines = [
        "| world | stopped after | answered | tau | tau of one step | covered | best chosen by the"
        " forecast: below the true best | worst below it |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (world, part), rows in table.groupby(["world", "part"], sort=False):
        known = rows[rows["known"]]
        cells = [""] * 5
        if len(known) > 1:
            taus = (mean_interval(known[name]) for name in ("tau", "one step"))
            cells = [f"{each.point:.2f} [{each.low:.2f}, {each.high:.2f}]" for each in taus]
            cells += [f"{known[name].mean():.3f}" for name in ("covered", "regret", "spread")]
        told = " | ".join([f"{len(known)} of {len(rows)}", *cells])
        lines.append(f"| {world} | {part:.0%} | {told} |")
    return lines


# --- What the explorer shows ----------------------------------------------------------------------


FANS = ROOT / "lab" / "explorer" / "front" / "fans.js"


def fans() -> str:
    """The module of the explorer with the fans of the trainings of [explorer] in the protocol.

    At each part of the visits: the mean, and low and high of its interval, in thousandths.
    """
    rule, told = PROTOCOL["explorer"], []
    each = [*trainings("develop"), *trainings("confirm")]
    for name, words in rule["trainings"].items():
        recipe, (n, right) = next(found[1:] for found in each if found[0] == name)
        rates = right.sum(axis=0) / n.sum(axis=0)
        visits, N = n.shape[1], int(np.bincount(n[n > 0]).argmax())
        stops = {}
        for percent in rule["percent"]:
            seen = max(2, round(percent / 100 * visits))
            ahead = min(visits - seen, FURTHEST * seen)
            found = model.fit(n[:, :seen], right[:, :seen], recipe)
            ends = np.array([each[1:] for each in fan(found, ahead, N)])
            stops[percent] = [seen, *(1000 * ends.T).round().astype(int).tolist()]
        means = (1000 * rates).round().astype(int).tolist()
        told.append(
            {"name": name, "words": words, "problems": len(n), "means": means} | {"stops": stops}
        )
        print(name, file=sys.stderr, flush=True)
    head = (
        "// Written by benchmarks/forecast.py fans: recorded trainings and their forecasts.",
        "// In thousandths: `means` by visit; `stops` by percent of the visits, each the number of",
        "// visits seen, and by visit to come the mean, and low and high of its 90% interval.",
        "export const FANS = ",
    )
    return (
        "\n".join(head)
        + json.dumps(told, separators=(",", ":")).replace('{"name"', '\n  {"name"')
        + ";\n"
    )


def held(ours_: pd.DataFrame) -> str:
    """What `lab forecast` says of its forecasts: how often the mean at the end was inside."""
    known = ours_[ours_["known"]].groupby("part")["covers"]
    words = [f"{each.sum()} of {len(each)} after {part:.0%} of the visits" for part, each in known]
    return (
        f"of forecasts of {ours_['training'].nunique()} trainings that nothing was chosen on,"
        f" {', '.join(words)} held the mean at their end (docs/forecast.md)"
    )


def what_it_stopped(stops: pd.DataFrame) -> str:
    """What `lab forecast --stop-when` says of its rule: of the new trainings, and of simulated."""
    words = []
    recorded, simulated = (stops[stops["kind"] == kind] for kind in ("again", "simulated"))
    each = [("recorded trainings", recorded)]
    for rate, part in simulated.groupby("name"):
        each.append((f"simulated ones at {rate.removeprefix('rate ')} times the usual rate", part))
    for label, table in each:
        for least, rows in table.groupby("least"):
            stopped = rows.dropna()
            gained = (stopped["gain"] > least).sum()
            words.append(
                f"of {len(rows)} {label} with {least:g} {len(stopped)}, of which {gained} gained"
                " more"
            )
    return f"this rule stopped {'; '.join(words)} (docs/forecast.md)"


def written(page: str, mark: str, lines: list[str]) -> str:
    """The page with these lines below their mark."""
    before, _, rest = page.partition(f"<!-- {mark} -->")
    block = "\n".join((f"<!-- {mark} -->", *lines, "<!-- end -->"))
    return before + block + rest.partition("<!-- end -->")[2] if rest else page


def measure(part: str) -> pd.DataFrame:
    """The table of a part."""
    if part == "others":
        return others()
    if part == "stopping":
        return pd.concat(stops(kind).assign(kind=kind) for kind in KINDS)
    return rows_of(part)


def page() -> None:
    """Write the tables of all parts that were measured, and what `lab forecast` says of them."""
    text, told = PAGE.read_text(), measured()
    for part in PARTS:
        if not (FOLDER / f"{part}.csv").exists():
            continue
        table = pd.read_csv(FOLDER / f"{part}.csv")
        if part == "others":
            text = written(text, part, others_lines(table))
        elif part == "stopping":
            text = written(text, part, stopping_lines(table))
            told["stopped"] = what_it_stopped(table)
        else:
            text = written(text, part, summary(table))
            text = written(text, f"{part}, each", by_training(table))
            if part == "again":
                told["held"] = held(table[table["by"] == "lab forecast"])
    PAGE.write_text(text)
    MEASURED.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+", choices=[*PARTS, "page", "fans"], metavar="PART")
    for asked in parser.parse_args().parts:
        if asked == "fans":
            FANS.write_text(fans())
        elif asked != "page":
            measure(asked).to_csv(FOLDER / f"{asked}.csv", index=False, float_format="%.5g")
    page()
