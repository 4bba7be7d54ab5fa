"""The command ``pallas-course``."""

import argparse
import ast
import contextlib
import io
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
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
    except KeyboardInterrupt:
        print("pallas-course: interrupted; nothing was written", file=sys.stderr)
        return 130
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

    args: list[dict[str, Any]] = []
    kwargs: dict[str, dict[str, Any]] = {}
    for written in options.arg:
        try:
            name, item = shapes.parse(written)
        except ValueError as error:
            wrong, do = error.args
            raise Usage(f"--arg {wrong}", do) from None
        if name is None:
            args.append(item)
        elif name in kwargs:
            raise Usage(f"--arg {name}= is given twice", "keep one of them")
        else:
            kwargs[name] = item
    if (elements := shapes.elements([*args, *kwargs.values()])) > shapes.MOST_ELEMENTS:
        raise Usage(
            f"--arg: {elements:,} elements, and an audit takes {shapes.MOST_ELEMENTS:,}",
            "give smaller shapes; one tile more than a block shows what a thousand show",
        )
    variants: dict[str, list[str]] = {}
    for written in options.static:
        name, _, literal = written.partition("=")
        try:
            ast.literal_eval(literal if name.isidentifier() else "?")
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise Usage(
                f"--static {written!r} is not NAME=VALUE with a Python literal", "--static 'block=(8, 128)'"
            ) from None
        if name in kwargs:
            raise Usage(f"{name} is given as --arg and as --static", "keep one of them")
        if literal not in variants.setdefault(name, []):
            variants[name].append(literal)
    for chip in options.chip:
        if chip not in chips.CHIPS:
            raise Usage(f"--chip {chip}: no such chip", f"choose from {', '.join(chips.CHIPS)}")
    for rung in options.rung:
        if rung not in verdict.RUNGS:
            raise Usage(f"--rung {rung}: no such rung", f"choose from {', '.join(verdict.RUNGS)}")
    if options.chip and options.rung and "compile" not in options.rung:
        raise Usage(
            f"--chip {options.chip[0]}: a chip is named to compile for it, and --rung leaves compile out",
            "add --rung compile, or leave --chip out",
        )
    if options.inputs and options.arg:
        raise Usage("--inputs and --arg both give the arguments", "keep one of them")
    if not 0 < options.limit < float("inf"):
        raise Usage(f"--limit {options.limit:g}: no number of seconds above zero", "--limit 30")
    for name in ("rtol", "atol"):
        if not 0 <= (getattr(options, name) or 0) < float("inf"):
            raise Usage(f"--{name} {getattr(options, name):g}: no number from zero up", f"--{name} 1e-4")
    tolerance = (options.rtol or 0.0, options.atol or 0.0) if (options.rtol, options.atol) != (None, None) else None
    if tolerance and not options.oracle:
        raise Usage("--rtol and --atol say how far from the oracle, and no --oracle is given", "leave them out")
    request = audit.Request(
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
    with _written(options.html, request) as html:
        try:
            report = audit.audit(request)
        except verdict.Misuse as error:
            raise Usage(error.wrong, error.do) from None
        html.write(page.page(report) if options.html else "")
    try:
        print(
            json.dumps(text.as_json(report), indent=1) if options.json else text.text(report),
            end="\n" if options.json else "",
            flush=True,
        )
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return report.exit


@contextlib.contextmanager
def _written(path: Path | None, request: Any) -> Iterator[io.StringIO]:
    """What is to stand in a file: there whole at the end, or not at all. Whether it can be written is told before."""
    text = io.StringIO()
    if path is None:
        yield text
        return
    told = "name a file in a folder that exists and may be written to"
    read = [role["file"] for role in (request.target, request.oracle, request.inputs) if role]
    if path.is_dir() or str(path.resolve()) in read:
        raise Usage(f"--html {path}: {'a folder' if path.is_dir() else 'the audited file'}", told)
    try:
        handle, new = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise Usage(f"--html {path}: {error.strerror}", told) from None
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            yield text
            stream.write(text.getvalue())
        os.chmod(new, 0o666 & ~_umask())
        os.replace(new, path)
    except BaseException:
        os.unlink(new)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _function(written: str, what: str) -> dict[str, str]:
    file, colon, name = written.rpartition(":")
    if not colon or not name.isidentifier():
        raise Usage(f"{what} {written!r} is not FILE.py:FUNCTION", "name the file, a colon and a function in it")
    path = Path(file).resolve()
    if not path.is_file():
        raise Usage(f"{what}: no file {file}", "check the path; it starts from the folder you are in")
    if path.suffix != ".py":
        raise Usage(f"{what}: {file} is no Python file", "name a file that ends in .py; save a notebook as one")
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
