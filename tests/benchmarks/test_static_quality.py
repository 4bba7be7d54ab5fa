"""What is compared with what, what is reported as missed, and the kept record."""

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pallas_course.evidence import bundles, ladder

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def quality() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("static_quality", ROOT / "benchmarks" / "static_quality.py")
    assert spec is not None
    assert spec.loader is not None
    path = list(sys.path)
    module = sys.modules["static_quality"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["static_quality"]
    sys.path[:] = path


PROGRAM = """
ENTRY %main.1 (x.1: f32[64,128]) -> f32[64,128] {
  %x.1 = f32[64,128]{1,0:T(8,128)} parameter(0), sharding={replicated}
  %copy-start = (f32[64,128]{1,0:T(8,128)S(1)}, f32[64,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(%x.1)
  %copy-done = f32[64,128]{1,0:T(8,128)S(1)} copy-done(%copy-start)
  ROOT %fusion = f32[64,128]{1,0:T(8,128)} fusion(%copy-done), kind=kLoop, calls=%fused_computation
}
"""


def test_copies_into_fast_memory_between_kernels_count_as_bytes_moved(quality: ModuleType) -> None:
    assert quality.copied_between(PROGRAM, {"fusion"}) == 64 * 128 * 4


def test_work_without_a_dump_stops_the_comparison(quality: ModuleType) -> None:
    with pytest.raises(bundles.Unreadable, match=r"runs \['fusion'\]; the dumps hold \[\]"):
        quality.copied_between(PROGRAM, set())


def measurement(bundles: int, moved: int = 100) -> dict[str, object]:
    return {"bytes": moved, "least_bytes": 100, "bundles": bundles, "slots": {"SALU": 0.5}}


def test_a_missed_target_is_reported_with_its_chip_and_both_numbers(quality: ModuleType) -> None:
    entry = quality.ENTRIES[0]
    names = list(entry.programs())
    programs = {name: measurement(900) for name in names} | {"XLA": measurement(1000)}
    assert quality.record(entry, {"v5e": dict(programs)})["missed"] == []
    slow = programs | {names[0]: measurement(1200, moved=110), names[-2]: measurement(9000)}
    assert quality.record(entry, {"v5e": slow})["missed"] == [
        "v5e, blocks (256, 2048): bytes moved, against the least: 1.1, at most 1.05",
        "v5e, blocks (256, 2048): bundles, against XLA: 1.2, at most 1.1",
    ]


@pytest.fixture
def run(quality: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The command, where every program has the bundles that it is given by name, and writes beside nothing of ours."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- measured -->\nold\n<!-- end of measured -->\nafter\n")
    monkeypatch.setattr(quality, "PAGE", page)
    monkeypatch.setattr(quality, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(quality, "missing", lambda: None)
    monkeypatch.setattr(quality.importlib.metadata, "version", lambda name: "1.2.3")
    monkeypatch.setattr(sys, "argv", ["static_quality.py"])

    def command(**counts: Any) -> int:
        def measured(entry: Any, program: str, chip: str) -> dict[str, object]:
            if isinstance(counts.get(program), Exception):
                raise counts[program]
            return measurement(counts.get(program, 900))

        monkeypatch.setattr(quality, "in_a_process", measured)
        code: int = quality.main()
        return code

    return command


def test_status_is_0_where_all_is_met_and_1_where_a_target_is_missed(
    run: Callable[..., int], quality: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(XLA=1000) == 0
    assert "Met on every chip." in capsys.readouterr().out
    assert run(XLA=500) == 1
    assert "**Missed:** v5e, blocks (256, 2048): bundles, against XLA: 1.8, at most 1.1;" in capsys.readouterr().out
    page = quality.PAGE.read_text()
    assert page.startswith("before\n<!-- measured -->\n")
    assert page.endswith("<!-- end of measured -->\nafter\n")
    assert "**Missed:**" in page
    assert "old" not in page
    assert json.loads(quality.RECORD.read_text())["kernels"]["axpy"]["missed"]


def test_status_is_2_and_nothing_is_written_where_something_cannot_be_measured(
    run: Callable[..., int], quality: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(XLA=bundles.Unreadable("no rule for smagic")) == 2
    assert "no rule for smagic\nnext: " in capsys.readouterr().err
    monkeypatch.setattr(quality, "missing", lambda: "libtpu is not installed\nnext: add it")
    assert run(XLA=1000) == 2
    assert capsys.readouterr().err == "static_quality.py: libtpu is not installed\nnext: add it\n"
    assert not quality.RECORD.exists()
    assert "old" in quality.PAGE.read_text()


def test_every_kernel_of_the_course_is_held_to_a_ratio(quality: ModuleType) -> None:
    assert {entry.name for entry in quality.ENTRIES} >= set(ladder.KERNELS)
    assert all(entry.anchors.keys() == entry.most_bundles.keys() != set() for entry in quality.ENTRIES)


def test_the_kept_record_holds_every_entry_its_targets_and_the_version_it_is_read_by(
    quality: ModuleType,
) -> None:
    kept = json.loads((ROOT / "benchmarks" / "static_quality.json").read_text(encoding="utf-8"))
    assert kept["versions"]["libtpu"] in bundles.LIBTPUS
    assert list(kept["kernels"]) == [entry.name for entry in quality.ENTRIES]
    for entry in quality.ENTRIES:
        kernel = kept["kernels"][entry.name]
        assert (kernel["most_bytes_ratio"], kernel["most_bundles_ratio"]) == (entry.most_bytes, entry.most_bundles)
        assert list(kernel["chips"]) == list(quality.CHIPS)
        for programs in kernel["chips"].values():
            assert list(programs) == list(entry.programs())


def test_the_page_shows_the_kept_record(quality: ModuleType) -> None:
    kept = json.loads((ROOT / "benchmarks" / "static_quality.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "static-quality.md").read_text(encoding="utf-8")
    assert quality.tables(kept) in page
