"""Score by a judge: a model reads a question and an answer, and gives a verdict by a rubric.

The scorer knows what is asked and what a reply is worth. Which server is asked, at what price and
with what patience, is up to the `JudgeClient` of the run; a scorer without one scores nothing.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from passband.errors import InvalidInput, describe
from passband.score.extract.answer import without_reasoning
from passband.score.filtering import INVALID, FilterStep, apply_steps, make_step
from passband.score.judge.call import CallFailed, JudgeCall, JudgeClient, RecordedReply, content_key
from passband.score.judge.options import JudgeOptions
from passband.score.judge.prompt import JudgeTurn, judge_prompt, reminder, rubric_values
from passband.score.judge.votes import JudgeVote, pair_vote, score_votes
from passband.score.scorer import NotScoredYet, Options, Reference, Score, ScoredTrial, Scorer

Result = TypeVar("Result")
_VERSION = 1  # part of every identity; goes up when prompts or verdicts change


def make_judge(name: str, options: Options, steps: Sequence[Options | str] = ()) -> JudgeScorer:
    """Return a judge from plain values, all checked."""
    return JudgeScorer(name, JudgeOptions.of(options), [make_step(step) for step in steps])


class JudgeScorer(Scorer):
    """A scorer whose scores are verdicts of a model."""

    slow = True
    is_async = True
    takes_trial = True

    def __init__(
        self,
        name: str,
        options: JudgeOptions,
        steps: Sequence[FilterStep] = (),
        model_spec: Options | None = None,
    ) -> None:
        self.name, self.options, self._steps = name, options, tuple(steps)
        self._model_spec = model_spec or {}  # what replies depend on beyond the model's name
        self.address: str | None = None  # of the judge's server
        self._client: JudgeClient | None = None
        self.identity = self._identity()

    def _identity(self) -> str:
        """Return the identity of its scores: model, parameters, rubric, votes, filters."""
        parts = {
            "judge": _VERSION,
            **self.options.as_json(),
            "rubric": self.options.rubric.digest,
            "steps": [step.identity for step in self._steps],
            **({"model_spec": self._model_spec} if self._model_spec else {}),
        }
        return json.dumps(parts, sort_keys=True, separators=(",", ":"))

    @property
    def spec(self) -> Options | None:
        """The arguments of `make_scorer` for this judge, and what its readers need to know."""
        steps = [step.spec for step in self._steps]
        if None in steps:
            return None
        options = self.options
        return {
            "name": self.name,
            "function": "judge",
            "options": options.as_json(),
            "steps": steps,
            "bounds": [0.0, 1.0],
            "model": options.model,
            "votes": options.votes,
            "form": options.rubric.form,
            "address": self.address,
        }

    def with_options(self, options: JudgeOptions) -> JudgeScorer:
        """Return the same scorer with other options."""
        return JudgeScorer(self.name, options, self._steps, self._model_spec)

    def with_model(self, spec: Options, address: str | None) -> JudgeScorer:
        """Return the same scorer with the specification and the address of its model."""
        changed = JudgeScorer(self.name, self.options, self._steps, spec)
        changed.address = address
        return changed

    def with_client(self, client: JudgeClient) -> JudgeScorer:
        """Return the same scorer with a client to ask through."""
        changed = copy.copy(self)
        changed._client = client
        return changed

    def check(self, question: str, reference: Reference) -> None:
        """Refuse a rubric whose variables a problem has nothing for."""
        rubric = self.options.rubric
        rubric_values(rubric, question, reference)
        if rubric.form == "pairwise" and rubric.against != "run":
            self._against_reference(reference)

    # -- scoring ---------------------------------------------------------------------------

    def score(
        self, text: str | None, reference: Reference, trial: ScoredTrial | None = None
    ) -> Score:
        """Score one completion, outside of an event loop."""
        from passband.system import complete_anywhere

        return complete_anywhere(self.score_async(text, reference, trial))

    async def score_async(
        self, text: str | None, reference: Reference, trial: ScoredTrial | None = None
    ) -> Score:
        """Ask for every vote on a completion; an answer that is empty is not asked about."""
        client = self._client
        if client is None or trial is None or trial.problem is None or trial.trial is None:
            raise NotScoredYet(f"{self.name} asks a model, and none is at hand here.")
        answer = self._judged(text, reference)
        if answer is None:
            return Score(0.0, "no_answer")
        try:
            votes = await self.votes(client, answer, reference, (trial.problem, trial.trial))
        except (InvalidInput, CallFailed) as error:  # of this answer: no reference, too long
            return Score(None, "error", detail=describe(error))
        return score_votes(votes, self.options.aggregate)

    async def votes(
        self, client: JudgeClient, answer: str, reference: Reference, trial: tuple[int, int]
    ) -> list[JudgeVote]:
        """Return the votes on an answer; `trial` is the position of its problem, and its number."""
        number = self.options.votes
        case = _Case(self, client, answer, reference, trial)
        return await together([case.vote(index) for index in range(number)])

    def _judged(self, text: str | None, reference: Reference) -> str | None:
        """Return the judged text: the answer after the reasoning, filtered."""
        answer = None if text is None else without_reasoning(text)
        answer = apply_steps(self._steps, answer, reference).answer
        return None if not answer or not answer.strip() or answer == INVALID else answer

    def _against_reference(self, reference: Reference) -> str:
        column = self.options.rubric.against
        if column == "reference":
            if not reference.targets:
                raise InvalidInput("the rubric compares with the reference, and there is none.")
            return reference.targets[0]
        if column not in reference.doc:
            raise InvalidInput(
                f"the rubric compares with the column {column!r}, and there is none."
            )
        return str(reference.doc[column])


async def together(work: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Await all coroutines; if one raises, raise its exception once all have ended."""
    # gather() alone would return while other requests go on, which are paid for and not recorded.
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


class _Case:
    """One answer before its judge."""

    def __init__(
        self,
        scorer: JudgeScorer,
        client: JudgeClient,
        answer: str,
        reference: Reference,
        trial: tuple[int, int],
    ) -> None:
        self._options, self._client, self._answer = scorer.options, client, answer
        self._trial, self._identity = trial, scorer.identity
        self._problem = client.problem(trial[0])
        rubric = scorer.options.rubric
        self._values = rubric_values(rubric, self._problem.question, reference)
        self._other = self._find_other(scorer, reference) if rubric.form == "pairwise" else ""

    def _find_other(self, scorer: JudgeScorer, reference: Reference) -> str:
        if self._options.rubric.against != "run":
            return scorer._against_reference(reference)
        other = self._client.other(self._problem.key, self._trial[1])
        if other is None:
            raise InvalidInput("the other run has no answer to compare with.")
        return other

    async def vote(self, index: int) -> JudgeVote:
        """Return one vote: one call, or two of a pair in both orders."""
        rubric = self._options.rubric
        if rubric.form == "pointwise":
            word, reason = (await self._heard(index, 0, {"answer": self._answer})).verdict
            return JudgeVote(None if word is None else rubric.scale[word], word or "-", reason)
        answers = ((self._answer, self._other), (self._other, self._answer))
        heard = await together(
            [
                self._heard(index, order, {"answer_a": a, "answer_b": b})
                for order, (a, b) in enumerate(answers)
            ]
        )
        reason = next((reply.verdict.reason for reply in heard if reply.verdict.word is None), None)
        return pair_vote(heard[0].verdict.word, heard[1].verdict.word, reason)

    async def _heard(self, vote: int, order: int, answers: Mapping[str, str]) -> RecordedReply:
        """Return the reply of one order; ask once more if it has no verdict."""
        rubric = self._options.rubric
        turns = judge_prompt(rubric, self._values, answers, self._options.longest)
        heard = await self._ask(turns, vote, order, 1, answers)
        if heard.verdict.word is not None:
            return heard
        again = reminder(turns, heard.reply.text, rubric)
        return await self._ask(again, vote, order, 2, answers, heard.reply.text or "")

    async def _ask(
        self,
        turns: tuple[JudgeTurn, ...],
        vote: int,
        order: int,
        attempt: int,
        answers: Mapping[str, str],
        earlier: str = "",
    ) -> RecordedReply:
        texts = {**self._values, **answers}
        position = (vote, order, attempt)
        key = content_key(self._identity, self._problem.key, texts, position, earlier)
        scale = self._options.rubric.scale
        return await self._client.ask(JudgeCall(*self._trial, *position, turns, scale, key))
