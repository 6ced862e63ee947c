"""Running tasks: find the missing trials, schedule, request, score and record them.

A `RunRequest` holds tasks, model and settings; `session` opens the directory and the subject;
`prepare` makes a `TaskRun` of each task. The `Runner` (loop) lets workers take batches from the
`Queue`, which asks each task's `Schedule` for blocks. `Attempts` makes requests, the `Endpoint`
keeps what they share, the `Budget` the cost. The `Recorder` scores and commits rows, and the
schedules see what is committed. A `Watcher` is shown `RunProgress`.
"""

from passband.door import open_door

__getattr__, __dir__ = open_door(__name__, __file__)
