"""Sending the results of a classic run to a server of the Trismik protocol."""

from __future__ import annotations

from typing import Any

from passband.adaptive import RemoteError, TrismikClient
from passband.errors import warn
from passband.scorebook.results import EvalRun, Row
from passband.trials import Trials


async def upload(client: TrismikClient, run: EvalRun, model: str) -> None:
    """Upload a run; the trials are here, so a server that fails is a warning."""
    with Trials(run.directory) as trials:
        record = trials.run()
        problems = {problem.number: problem for problem in trials.problems(record.number)}
        names = {scorer.number: scorer.name for scorer in record.scorers}
        items: list[Row] = [
            {
                "datasetItemId": problems[row.problem].key,
                "modelInput": _text(problems[row.problem].record["messages"]),
                "modelOutput": row.text or "",
                "goldOutput": (problems[row.problem].record["targets"] or [""])[0],
                "metrics": {names[score.scorer]: score.value for score in row.scores},
            }
            for row in trials.trials(record)
        ]
    metrics = {
        name: run.values[name] for name in names.values() if run.values.get(name) is not None
    }
    try:
        await client.submit_classic_eval(
            project_id=str(run.spec.project_id),
            experiment=str(run.spec.experiment_id),
            dataset_id=run.spec.label,
            model_name=model,
            items=items,
            metrics=metrics,
            hyperparameters=run.spec.hyperparameter_config,
        )
    except RemoteError as error:
        warn(f"{run.spec.label}: the results are not uploaded: {error}")


def _text(messages: Any) -> str:
    return "\n\n".join(text for _, text in messages)
