"""How differently a model is right: cosine distances of its right responses (PACS, 2509.02522,
appendix E). Floor 2.

What the paper leaves open. Equation 13 is over all K responses, section 6.2 scores correct ones
only: here K counts the right responses, and problems with fewer than two, which have no pair, are
left out of the mean over problems (eq. 14). So two models may be scored on different problems:
`lab.stats.compare` pairs the distances of those they share. Whether texts are cut is not said: here
they are embedded whole. Figure 5(b) centres PACS and GRPO each on its own mean, whether in one PCA,
and with which bandwidth and levels its contours are drawn, is not said: here one PCA, Scott's
bandwidth.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lab.errors import LabError, real
from lab.stats import Interval, bootstrap

Array = NDArray[np.float64]
Embed = Callable[[Sequence[str]], ArrayLike]  # texts to "texts width"


class Diversity(NamedTuple):
    """S_div with its interval over problems. `problems` "entered" are the places of those with two
    right or more.

    `responses` and `distances` "entered" are how many right responses each has and their Div,
    `vectors` their embeddings at length 1, an array "responses width" for each.
    """

    score: Interval
    problems: NDArray[np.int64]
    responses: NDArray[np.int64]
    distances: Array
    vectors: list[Array]


def diversity(right: Sequence[Sequence[str]], embed: Embed) -> Diversity:
    """S_div = (1/N) sum_i Div(q_i), Div as in `mean_distance` (PACS eq. 14), and its
    `lab.stats.bootstrap` interval.

    `right[i]` are the right responses to problem i, each copy of a repeated one included; `embed`
    is called once. Errors: fewer than two problems with two right responses; an embedding of
    another shape, zero or not finite.
    """
    if any(isinstance(texts, str) for texts in right):
        raise LabError(
            "a problem's right responses are one text: give a list of texts for each problem"
        )
    entered = [i for i, texts in enumerate(right) if len(texts) > 1]
    if len(entered) < 2:
        raise LabError(
            f"{len(entered)} of {len(right)} problems have two right responses, two must: draw more"
            " of them"
        )
    counts = np.array([len(right[i]) for i in entered])
    found = np.asarray(embed([text for i in entered for text in right[i]]), dtype=np.float64)
    if found.ndim != 2 or len(found) != counts.sum():
        raise LabError(
            f"embed gave shape {found.shape} for {counts.sum()} texts: it must return one row for"
            " each"
        )
    parts = zip(entered, np.split(found, np.cumsum(counts)[:-1]), strict=True)
    vectors = [_directions(part, f"problem {i}, right response") for i, part in parts]
    distances = np.array([mean_distance(part) for part in vectors])
    return Diversity(bootstrap(distances), np.array(entered), counts, distances, vectors)


def mean_distance(vectors: ArrayLike) -> float:
    """Div(q) = 1 - the mean cosine similarity of all pairs m < n of responses (PACS eqs. 12, 13),
    from 0 to 2.

    Equal responses are pairs like any other, at distance 0. With u_m the vectors at length 1, Div
    is the trace of their covariance, sum_m |u_m - mean u|² / (K-1): the variance that `project`
    draws, in time linear in K. Shape: "responses width". Errors: fewer than two responses; one that
    is zero or not finite.

    >>> round(mean_distance([[1, 0], [0, 2], [0, 3]]), 12)  # of three pairs, two are orthogonal and one parallel
    0.666666666667
    """
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim != 2 or len(array) < 2:
        raise LabError(
            f'vectors have shape {array.shape}: give "responses width" with at least two responses'
        )
    units = _directions(array, "response")
    return float(np.square(units - units.mean(axis=0)).sum() / (len(units) - 1))


def _directions(vectors: Array, row: str) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if (wrong := ~((lengths > 0) & np.isfinite(lengths))).any():
        raise LabError(
            f"{row} {wrong.argmax()} is embedded with length {lengths[wrong][0]}: leave out empty"
            " responses"
        )
    return vectors / lengths


def project(*clouds: ArrayLike) -> tuple[list[Array], Array]:
    """Centred PCA to the plane (PACS section 6.2, Figure 5b): each cloud minus its own mean, one
    PCA of all together.

    A cloud is an array "responses width", say the vectors of one problem under one model; a larger
    one weighs more. Returns the points, "responses 2" for each cloud, and the shares (2) of the
    variance along the axes, which point so that the farthest point along each is positive. Errors:
    widths that differ; nothing that varies.
    """
    arrays = [np.asarray(cloud, dtype=np.float64) for cloud in clouds]
    if not arrays or any(
        a.ndim != 2 or not len(a) or a.shape[1] != arrays[0].shape[-1] for a in arrays
    ):
        raise LabError(
            f'clouds have shapes {[a.shape for a in arrays]}: give "responses width", all of one'
            " width"
        )
    centred, largest = (
        np.concatenate([a - a.mean(axis=0) for a in arrays]),
        max(np.abs(a).max() for a in arrays),
    )
    if min(centred.shape) < 2 or not np.abs(centred).max() > 1e-12 * largest:  # false for NaN too
        raise LabError(
            f"clouds of {centred.shape} numbers span no plane: give finite embeddings that differ"
        )
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    plane = left[:, :2] * sizes[:2]
    plane *= np.where(plane[np.abs(plane).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return (
        np.split(plane, np.cumsum([len(a) for a in arrays])[:-1]),
        (sizes**2 / np.square(sizes).sum())[:2],
    )


def density(
    points: ArrayLike, shares: Sequence[float] = (0.9, 0.5), grid: int = 100
) -> tuple[Array, ...]:
    """Gaussian kernel density of points "responses 2", as contours need it: x "grid", y "grid",
    density "y x", levels.

    The i-th level, from the lowest, is that above which the i-th largest of `shares` of the
    probability lies. The grid ends three bandwidths from the points. Errors: points that are all on
    a line; shares not within 0 and 1.
    """
    from scipy.stats import gaussian_kde

    inside = sorted((real("share", share, 0.001, 0.999) for share in shares), reverse=True)
    cloud = np.asarray(points, dtype=np.float64)
    if (
        cloud.ndim != 2
        or cloud.shape[1] != 2
        or np.linalg.matrix_rank(cloud - cloud.mean(axis=0)) < 2
    ):
        raise LabError(
            f"points of shape {cloud.shape} span no plane: a density needs three or more, not on a"
            " line"
        )
    kernel = gaussian_kde(cloud.T)
    margin = 3 * np.sqrt(np.diag(kernel.covariance))
    x, y = np.linspace(cloud.min(axis=0) - margin, cloud.max(axis=0) + margin, grid).T
    values = kernel(np.stack(np.meshgrid(x, y)).reshape(2, -1)).reshape(len(y), len(x))
    falling = np.sort(values, axis=None)[::-1]
    return x, y, values, falling[np.searchsorted(falling.cumsum() / falling.sum(), inside)]


def embedder(name: str = "Qwen/Qwen3-Embedding-0.6B", batch: int = 8) -> Embed:
    """An embedding model by its name (on the hub, or a folder), in float32, on the GPU where there
    is one.

    As on the card of Qwen3-Embedding, PACS's choice: responses, being documents, get no
    instruction; a vector is the last layer at the end token, which the tokenizer appends, at length
    1. `batch` texts of like length go together. "hashed-ngrams" needs no download: character 3- to
    5-grams within words, hashed to 4,096 counts. For tests and quick looks: it measures wording,
    not meaning, and its scores do not compare with a model's. Errors: a model that pools otherwise,
    or whose tokenizer appends nothing; a text longer than the model reads.
    """
    if name == "hashed-ngrams":
        from sklearn.feature_extraction.text import HashingVectorizer

        hashing = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), n_features=4096)
        return lambda texts: hashing.transform(texts).toarray()
    import torch
    from transformers import AutoModel, AutoTokenizer
    from transformers.utils import cached_file

    from lab.device import compute_device

    tokenizer = AutoTokenizer.from_pretrained(name)
    pooling = cached_file(
        name, "1_Pooling/config.json", _raise_exceptions_for_missing_entries=False
    )
    last = pooling and json.loads(Path(pooling).read_text(encoding="utf-8")).get(
        "pooling_mode_lasttoken"
    )
    # With transformers 5 some tokenizers stopped appending their end token, without a word.
    if (
        not last
        or tokenizer("a").input_ids[-1] == tokenizer("a", add_special_tokens=False).input_ids[-1]
    ):
        raise LabError(
            f"{name!r} {'appends no end token' if last else 'is not said to pool its last token'}:"
            " choose a model that does (tokenizer.json, 1_Pooling/config.json), or write an embed"
            " function for it"
        )
    model = AutoModel.from_pretrained(name, dtype=torch.float32).to(compute_device())

    @torch.inference_mode()
    def embed(texts: Sequence[str]) -> Array:
        rows = tokenizer(list(texts), verbose=False).input_ids
        lengths = np.array([len(row) for row in rows])
        if lengths.max() > (reads := model.config.max_position_embeddings):
            raise LabError(
                f"text {lengths.argmax()} has {lengths.max()} tokens, {name} reads {reads}: cut it"
                " visibly"
            )
        vectors = np.empty((len(rows), model.config.hidden_size))
        for part in np.split(np.argsort(lengths, kind="stable"), range(batch, len(rows), batch)):
            # Padding follows the text, so under the causal mask nothing reads it.
            ids = torch.nn.utils.rnn.pad_sequence(
                [torch.tensor(rows[i]) for i in part], batch_first=True
            )
            ends = model(input_ids=ids.to(model.device)).last_hidden_state[
                np.arange(len(part)), lengths[part] - 1
            ]
            vectors[part] = torch.nn.functional.normalize(ends, dim=1).cpu().numpy()
        return vectors

    return embed
