"""A process of its own for code that may hang, abort or exit: ``python -m pallas_course.evidence.worker FD``.

Reads one job as JSON from stdin, and writes to the file descriptor a line before and a line after each task.
"""

import json
import os
import sys
from functools import partial
from typing import Any

from pallas_course.kernels import versions


def main() -> None:
    """Climb the rungs of the job's tasks, in order."""
    out = os.fdopen(int(sys.argv[1]), "w", buffering=1)
    job = json.load(sys.stdin)

    def say(**fields: Any) -> None:
        out.write(json.dumps(fields) + "\n")

    say(begin=job["tasks"][0]["id"])
    versions.check()
    from pallas_course.evidence import compiled, rungs, target
    from pallas_course.evidence.case import Case
    from pallas_course.evidence.verdict import FAIL, Verdict

    cases: dict[str, Case | Verdict] = {}
    for task in job["tasks"]:
        say(begin=task["id"])
        spec, rung, chip = job["cases"][task["case"]], task["rung"], task["chip"]
        if task["case"] not in cases:
            try:
                cases[task["case"]] = Case(spec)
            except BaseException as error:  # noqa: BLE001
                found = target.blame(error, "trace", spec["target"].get("file", ""))
                cases[task["case"]] = Verdict(rung, FAIL, reason=f"{found.code}: {found.message}", findings=(found,))
        case = cases[task["case"]]
        say(loaded=task["id"])
        run = compiled.measure if rung == compiled.RUNG else partial(rungs.climb, rung=rung)
        verdict = case if isinstance(case, Verdict) else run(case, chip=chip)
        say(end=task["id"], verdict=verdict.as_json(), versions=versions.installed())
    out.flush()
    sys.stdout.flush()
    # Threads and atexit handlers of the audited code, and of a compiler that hangs while it is unloaded, end here.
    os._exit(0)


if __name__ == "__main__":
    main()
