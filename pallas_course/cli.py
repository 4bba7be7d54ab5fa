"""The command ``pallas-course``."""

import argparse
import ast
import json
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn


class Usage(Exception):
    """A command that cannot be followed: what is wrong, and what to do."""

    def __init__(self, wrong: str, do: str) -> None:
        super().__init__(f"{wrong}\nnext: {do}")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(f"{self.prog}: {message}", f"{self.prog} --help")


def main(argv: list[str] | None = None) -> int:
    """Run one command. 0: all well; 1: findings; 2: usage or our own fault; 3: something asked for could not run."""
    parser = _Parser(prog="pallas-course", description="Evidence for Pallas kernels, rung by rung.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    _audit_arguments(commands)
    _evidence_arguments(commands)
    try:
        options = parser.parse_args(argv)
        from pallas_course.kernels import versions

        versions.check()
        return _audit(options) if options.command == "audit" else _evidence(options)
    except Usage as error:
        print(error, file=sys.stderr)
    except Exception as error:  # noqa: BLE001  a fault of ours must not end like a finding
        if type(error).__name__ == "UnsupportedVersion":
            print(error, file=sys.stderr)
        else:
            traceback.print_exc()
            print(
                "pallas-course: a fault of its own, not of your kernel\nnext: report the lines above", file=sys.stderr
            )
    return 2


def _audit_arguments(commands: "argparse._SubParsersAction[_Parser]") -> None:
    audit = commands.add_parser(
        "audit",
        help="climb the ladder with a function of yours that calls Pallas",
        description="Exit status: 0 all "
        "rungs passed on what was given, 1 findings, 2 wrong usage, 3 a rung or chip asked for could not run.",
    )
    audit.add_argument("target", metavar="FILE.py:FUNCTION", help="takes whole arrays, returns whole arrays")
    audit.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="[NAME=]f32[8,128]",
        help="one argument, in order; NAME= for a keyword",
    )
    audit.add_argument(
        "--static",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a keyword that is no array; given again with another value, results are compared",
    )
    audit.add_argument(
        "--inputs",
        metavar="FILE.py:FUNCTION",
        help="returns the arguments: a tuple, a dictionary of keywords, or both in a tuple",
    )
    audit.add_argument("--oracle", metavar="FILE.py:FUNCTION", help="the same in NumPy, best in float64")
    audit.add_argument("--rtol", type=float, help="relative tolerance against the oracle (default: by dtype)")
    audit.add_argument(
        "--atol", type=float, help="absolute tolerance against the oracle (default: from the size of its result)"
    )
    audit.add_argument(
        "--chip", action="append", default=[], metavar="v5e", help="compile for it: v4, v5e, v5p, v6e, v7x, h100"
    )
    audit.add_argument(
        "--rung", action="append", default=[], help="only these: interpret, simulate, lower, compile, execute, time"
    )
    audit.add_argument("--grad", action="store_true", help="audit the gradient too")
    audit.add_argument("--strict", action="store_true", help="findings on derived shapes count for the exit status")
    audit.add_argument(
        "--limit", type=float, default=30, metavar="SECONDS", help="for one rung on one case (default: 30)"
    )
    audit.add_argument("--json", action="store_true", help="print the report as JSON")
    audit.add_argument("--html", type=Path, metavar="FILE", help="write the report, with figures, to a page of its own")


def _evidence_arguments(commands: "argparse._SubParsersAction[_Parser]") -> None:
    evidence = commands.add_parser(
        "evidence", help="climb the ladder with the course's kernels and record the verdicts"
    )
    evidence.add_argument(
        "kernel",
        nargs="*",
        help="kernels to climb with, `museum` for its faults, `legality` for block shapes (default: all)",
    )
    evidence.add_argument(
        "--check", action="store_true", help="run everything again, compare with the record, write nothing"
    )


def _audit(options: argparse.Namespace) -> int:
    from pallas_course.evidence import audit, chips, page, shapes, text, verdict

    args, kwargs = [], {}
    for written in options.arg:
        try:
            name, item = shapes.parse(written)
        except ValueError as error:
            raise Usage(f"--arg {error}", "write the dtype as JAX does: f32, bf16, i32, bool") from None
        if name is None:
            args.append(item)
        else:
            kwargs[name] = item
    variants: dict[str, list[str]] = {}
    for written in options.static:
        name, equals, literal = written.partition("=")
        try:
            ast.literal_eval(literal if equals else "?")
        except (ValueError, SyntaxError):
            raise Usage(
                f"--static {written!r} is not NAME=VALUE with a Python literal", "--static 'block=(8, 128)'"
            ) from None
        variants.setdefault(name, []).append(literal)
    for chip in options.chip:
        if chip not in chips.CHIPS:
            raise Usage(f"--chip {chip}: no such chip", f"choose from {', '.join(chips.CHIPS)}")
    for rung in options.rung:
        if rung not in verdict.RUNGS:
            raise Usage(f"--rung {rung}: no such rung", f"choose from {', '.join(verdict.RUNGS)}")
    if options.inputs and options.arg:
        raise Usage("--inputs and --arg both give the arguments", "keep one of them")
    tolerance = (options.rtol or 0.0, options.atol or 0.0) if (options.rtol, options.atol) != (None, None) else None
    report = audit.audit(
        audit.Request(
            target=_function(options.target, "the target"),
            args=args,
            kwargs=kwargs,
            variants=variants,
            inputs=_function(options.inputs, "--inputs") if options.inputs else None,
            oracle=_function(options.oracle, "--oracle") if options.oracle else None,
            tolerance=tolerance,
            chips=tuple(dict.fromkeys(options.chip)),
            rungs=tuple(dict.fromkeys(options.rung)),
            grad=options.grad,
            strict=options.strict,
            limit=options.limit,
        )
    )
    if options.html:
        try:
            options.html.write_text(page.page(report), encoding="utf-8")
        except OSError as error:
            raise Usage(f"--html {options.html}: {error.strerror}", "name a file in a folder that exists") from None
    print(
        json.dumps(text.as_json(report), indent=1) if options.json else text.text(report),
        end="\n" if options.json else "",
    )
    return report.exit


def _function(written: str, what: str) -> dict[str, str]:
    file, colon, name = written.rpartition(":")
    if not colon or not name.isidentifier():
        raise Usage(f"{what} {written!r} is not FILE.py:FUNCTION", "name the file, a colon and a function in it")
    path = Path(file).resolve()
    if not path.is_file():
        raise Usage(f"{what}: no file {file}", "check the path; it starts from the folder you are in")
    return {"file": str(path), "function": name}


def _evidence(options: argparse.Namespace) -> int:
    from pallas_course.evidence import exhibits, ladder, legality

    tables: dict[str, Any] = {"museum": exhibits, "legality": legality}
    known = [*ladder.KERNELS, *tables]
    unknown = [name for name in options.kernel if name not in known]
    if unknown:
        raise Usage(f"no kernel {unknown[0]!r}", f"choose from {', '.join(known)}")
    chosen = options.kernel or known
    kernels = [name for name in chosen if name not in tables]
    worst = ladder.check(kernels, print) if options.check else ladder.record(kernels, print)
    for name in chosen:
        if name in tables:
            worst = max(worst, tables[name].check(print) if options.check else tables[name].record(print))
    return worst


if __name__ == "__main__":
    sys.exit(main())
