"""Judge every candidate by cross-validation and keep the best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.threads import run
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.grid import FittedSetting, KernelGrid, Setting
from .committee import Candidate, best_members, best_value, committee_size
from .learner import Learner, Split
from .level_weights import aligned_weights, bare_graphs, stacked_levels, weighted_sum

#: A setting with the kernel that it belongs to.
Choice = tuple[KernelGrid, Setting]


@dataclass
class Search:
    """What came out of trying all candidates.

    Attributes
    ----------
    choices : list of pairs
        All settings of all kernels, in the order of their numbers.
    members : list of Candidate
        The best, the best first.
    held_out : dict
        For each of them what its models answered on the graphs that they had not seen.
    level_weights : dict
        The learnt weights of levels, for those of them that have such.
    fitted : dict
        The fitted settings of the members, by number.
    places : list of pairs
        Setting and level of everything that was tried. The level after the highest stands for
        all levels with learnt weights.
    scores : list of array
        For each setting the scores of its levels and values of the learner's grid, a column for
        each split.
    """

    choices: list[Choice]
    members: list[Candidate] = field(default_factory=list)
    held_out: dict[Candidate, np.ndarray] = field(default_factory=dict)
    level_weights: dict[Candidate, np.ndarray] = field(default_factory=dict)
    fitted: dict[int, FittedSetting] = field(default_factory=dict)
    places: list[tuple[int, int]] = field(default_factory=list)
    scores: list[np.ndarray] = field(default_factory=list)

    def keep(
        self, candidates: dict[Candidate, np.ndarray], fitted: FittedSetting, most: int
    ) -> None:
        """Join new candidates with those so far; forget all that is not among the best."""
        number = len(self.scores) - 1
        self.held_out |= candidates
        self.members = best_members(self.held_out, most)
        self.held_out = {one: self.held_out[one] for one in self.members}
        learnt = self.level_weights
        self.level_weights = {one: learnt[one] for one in self.members if one in learnt}
        self.fitted[number] = fitted
        wanted = {one.setting for one in self.members}
        self.fitted = {n: kept for n, kept in self.fitted.items() if n in wanted}

    def table(
        self, named: list[dict[str, Any]], tuned: str, values: Sequence[float]
    ) -> dict[str, Any]:
        """What was tried in the form of scikit-learn's searches, ready for a pandas.DataFrame.

        ``named`` has the parameters of each of the places, ``tuned`` is the learner's own. A
        parameter that a kernel does not have is None in its rows.
        """
        tried = [{**params, tuned: value} for params in named for value in values]
        scores = np.concatenate(self.scores)
        means = scores.mean(axis=1)
        names = dict.fromkeys(name for params in tried for name in params)
        table: dict[str, Any] = {
            f"param_{name}": [params.get(name) for params in tried] for name in names
        }
        table["params"] = tried
        for split in range(scores.shape[1]):
            table[f"split{split}_test_score"] = scores[:, split]
        table["mean_test_score"] = means
        table["std_test_score"] = scores.std(axis=1)
        ranks = [1 + int((means > mean + 1e-12).sum()) for mean in means]
        table["rank_test_score"] = np.array(ranks)
        return table


@dataclass(frozen=True)
class Judge:
    """Scores kernel matrices by what models say of graphs that they have not seen."""

    targets: np.ndarray
    splits: Sequence[Split]
    learner: Learner
    score: Callable[[np.ndarray, np.ndarray], float]
    weights: np.ndarray | None = None
    n_jobs: int | None = None

    def __call__(self, gram: np.ndarray) -> tuple[np.ndarray, int, np.ndarray]:
        """Scores (grid, splits), the best entry of the grid, and its answers for all graphs."""
        return self._judged(
            self.learner.held_out(gram, self.targets, self.splits, self.weights, self.n_jobs)
        )

    def learnt(self, fitted: FittedSetting) -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
        """The same for all levels with learnt weights, and the weights that all graphs speak for.

        In each split the weights are learnt on its training part.
        """
        bare, matrices = bare_graphs(fitted), stacked_levels(fitted, self.learner.dtype)
        own = np.ones(len(self.targets)) if self.weights is None else self.weights

        def answers(number: int, _: int) -> list[np.ndarray]:
            split = self.splits[number]
            weights = aligned_weights(matrices, self.targets, own, split[0])
            gram = weighted_sum(matrices, weights, bare)
            [found] = self.learner.held_out(gram, self.targets, [split], self.weights)
            return found

        each = run(answers, [(n, n + 1) for n in range(len(self.splits))], self.n_jobs)
        everyone = np.arange(len(self.targets))
        return *self._judged(each), aligned_weights(matrices, self.targets, own, everyone)

    def _judged(self, answers: list[list[np.ndarray]]) -> tuple[np.ndarray, int, np.ndarray]:
        pairs = list(zip(self.splits, answers, strict=True))
        scores = np.array(
            [[self.score(self.targets[test], a) for a in found] for (_, test), found in pairs]
        ).T
        place = best_value(scores.mean(axis=1))
        held_out = np.empty((len(self.targets), *answers[0][place].shape[1:]))
        for (_, test), found in pairs:
            held_out[test] = found[place]
        return scores, place, held_out


def search_candidates(
    choices: list[Choice],
    settings: Iterable[FittedSetting],
    judge: Judge,
    committee: int,
    tell: Callable[[Search, FittedSetting, float], None],
    learn_weights: bool = False,
) -> Search:
    """Judge the settings one after the other; keep no more than the committee needs.

    ``tell`` hears after each setting how it went. With ``learn_weights`` all levels of a setting
    together, with learnt weights, are one more candidate.
    """
    search = Search(choices)
    for number, fitted in enumerate(settings):
        candidates: dict[Candidate, np.ndarray] = {}
        found = []
        for level, gram in enumerate(fitted.grams()):
            scores, place, held_out = judge(scaled_gram(gram, fitted.kernel)[0])
            best = float(scores[place].mean())
            candidates[Candidate(best, number, level, judge.learner.grid[place])] = held_out
            search.places.append((number, level))
            found.append(scores)
        if learn_weights and len(found) > 1:
            scores, place, held_out, weights = judge.learnt(fitted)
            best = float(scores[place].mean())
            one = Candidate(best, number, len(found), judge.learner.grid[place])
            candidates[one], search.level_weights[one] = held_out, weights
            search.places.append((number, len(found)))
            found.append(scores)
        search.scores.append(np.concatenate(found))
        search.keep(candidates, fitted, committee)
        tell(search, fitted, max(one.score for one in candidates))
    search.members = search.members[: committee_size(committee, len(search.places))]
    return search


def scaled_gram(gram: np.ndarray, kernel: GraphKernel) -> tuple[np.ndarray, float]:
    """A kernel matrix whose diagonal is 1 on average, and what it was multiplied by."""
    if kernel.similarity == "cosine":
        return gram, 1.0
    scale = 1.0 / max(float(np.diagonal(gram).mean()), 1e-300)
    return gram * scale, scale
