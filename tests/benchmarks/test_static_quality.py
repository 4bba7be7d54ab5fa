"""The reader of final bundles: it counts what the text decides and stops at what it does not; and the kept record."""

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Eight turns of a loop, a copy in every even one; four bundles follow a branch before it takes effect.
LOOP = """
LB: loop body
     0   :  { %s10_s0 = inlined_call_operand.hbm [shape: f32[8,128], index: 0]  ;;  %s11_s1 = smov 0 /* a count */ }
   0x1 LB: > { %s12_s2 = sand.u32 1, %s11_s1  ;;  %s11_s1 = sphi %s13_s1, %s14_s1 } /* Start region 3 */
   0x2   : > { %p20_p0 = scmp.eq.s32.totalorder %s12_s2, 0  ;;  %s15_s3 = scalar_lea.hbm %s10_s0, %s11_s1 }
   0x3   : > { %30 = dma.hbm_to_vmem [thread:$0]  (%p20_p0), /*hbm=*/%s15_s3, /*size_in_granules=*/128, %s16_s4 /*
window_bounds: (1, 1) */  ;;  %v1_v0 = vld [vmem:[#allocation1] sm:$0xff] }
   0x4   : > { %s14_s1 = sadd.s32 1, %s11_s1 }
   0x5   : > { %p21_p1 = scmp.ge.s32.totalorder %s14_s1, 8 }
   0x6   : > { %31 = sbr.rel (!%p21_p1) target = $region3 }
   0x7   : > { %32 = vsyncadd %s15_s3, 4294967295 }
   0x8   :  {}
   0x9   :  {}
   0xa   :  {} /* End region 3 */
   0xb   :  { %33 = dma.vmem_to_hbm [thread:$0]  /*vmem=*/%s16_s4, /*size_in_granules=*/64, /*hbm=*/%s10_s0 }
"""
TABLE = "== CAPACTIY:\nVALU, SALU\n    4     2\n== UTILIZATION:\n" + "0 1\n" * 12


@pytest.fixture(scope="module")
def benchmarks() -> Iterator[dict[str, ModuleType]]:
    modules = {}
    for name in ("bundles", "static_quality"):
        spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        modules[name] = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[name])
    yield modules
    for name in modules:
        del sys.modules[name]


@pytest.fixture
def bundles(benchmarks: dict[str, ModuleType]) -> ModuleType:
    return benchmarks["bundles"]


def test_loops_copies_and_the_bundles_after_a_branch_are_counted(bundles: ModuleType) -> None:
    issued = bundles.count(LOOP, TABLE)
    assert issued.bundles == 1 + 8 * 10 + 1
    assert issued.copied == {"hbm_to_vmem": 4 * 128 * 32, "vmem_to_hbm": 64 * 32}
    assert issued.slots == {"VALU": 0, "SALU": 0.5}


def test_a_value_kept_in_memory_decides_as_well_as_one_in_a_register(bundles: ModuleType) -> None:
    kept = (
        LOOP.replace("smov 0 /* a count */", "smov 0  ;;  %s42_s9 = smov 0")
        .replace("   0x4   : > { ", "   0x4   : > { %40 = sst [smem:[#allocation7_spill]] %s11_s1  ;;  ")
        .replace("   0x5   : > { ", "   0x5   : > { %s41_s9 = sld [smem:[#allocation7_spill]]  ;;  ")
        .replace("totalorder %s14_s1, 8", "totalorder %s41_s9, 8")
    )
    # The count is kept before it grows, and compared before it is read back: two turns more.
    assert bundles.count(kept, TABLE).bundles == 1 + 10 * 10 + 1


@pytest.mark.parametrize(
    ("was", "becomes", "complaint"),
    [
        ("%s14_s1 = sadd.s32 1,", "%s14_s1 = smagic.s32 1,", "no rule for smagic.s32: %s14_s1 = smagic.s32 1, %s11_s1"),
        ("%32 = vsyncadd", "%32 = scall", "no rule for scall"),
        ("%s11_s1 = smov 0", "%s11_s1 = sld [smem:[#allocation5]]", "an unknown value decides a copy"),
        ("scmp.ge.s32.totalorder %s14_s1, 8", "scmp.ge.s32.totalorder %s15_s3, 8", "an unknown value decides a branch"),
        ("/*size_in_granules=*/64", "/*size_in_granules=*/%s15_s3", "an unknown value decides a copy"),
        ("%32 = vsyncadd", "%32 = sbr.rel target = $region3  ;;  %34 = vsyncadd", "while another is taking effect"),
        ("%s11_s1 = sphi %s13_s1,", "%s11_s1 = sphi %s13_s7,", "no rule for sphi"),
        ("%p21_p1 = scmp.ge.s32.totalorder %s14_s1, 8", "%p21_p1 = scmp.lt.s32.totalorder %s14_s1, 0", "no end after"),
    ],
)
def test_what_cannot_be_known_stops_the_count(
    was: str, becomes: str, complaint: str, bundles: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "MOST", 1000)
    assert was in LOOP
    with pytest.raises(bundles.Unreadable, match=complaint):
        bundles.count(LOOP.replace(was, becomes), TABLE)


def test_a_table_of_other_bundles_stops_the_count(bundles: ModuleType) -> None:
    with pytest.raises(bundles.Unreadable, match="a table of 11 rows and 2 slots for 12 bundles"):
        bundles.count(LOOP, TABLE.removesuffix("0 1\n"))


PROGRAM = """
ENTRY %main.1 (x.1: f32[64,128]) -> f32[64,128] {
  %x.1 = f32[64,128]{1,0:T(8,128)} parameter(0), sharding={replicated}
  %copy-start = (f32[64,128]{1,0:T(8,128)S(1)}, f32[64,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(%x.1)
  %copy-done = f32[64,128]{1,0:T(8,128)S(1)} copy-done(%copy-start)
  ROOT %fusion = f32[64,128]{1,0:T(8,128)} fusion(%copy-done), kind=kLoop, calls=%fused_computation
}
"""


def test_copies_into_fast_memory_between_kernels_count_as_bytes_moved(benchmarks: dict[str, ModuleType]) -> None:
    assert benchmarks["static_quality"].copied_between(PROGRAM, {"fusion"}) == 64 * 128 * 4


def test_work_without_a_dump_stops_the_comparison(benchmarks: dict[str, ModuleType]) -> None:
    with pytest.raises(benchmarks["bundles"].Unreadable, match=r"runs \['fusion'\]; the dumps hold \[\]"):
        benchmarks["static_quality"].copied_between(PROGRAM, set())


def measurement(bundles: int, moved: int = 100) -> dict[str, object]:
    return {"bytes": moved, "least_bytes": 100, "bundles": bundles, "slots": {"SALU": 0.5}}


def test_a_missed_target_is_reported_with_its_chip_and_both_numbers(benchmarks: dict[str, ModuleType]) -> None:
    entry = benchmarks["static_quality"].ENTRIES[0]
    names = list(entry.programs())
    programs = {name: measurement(900) for name in names} | {"XLA": measurement(1000)}
    assert benchmarks["static_quality"].record(entry, {"v5e": dict(programs)})["missed"] == []
    slow = programs | {names[0]: measurement(1200, moved=110), names[-2]: measurement(9000)}
    assert benchmarks["static_quality"].record(entry, {"v5e": slow})["missed"] == [
        "v5e, blocks (256, 2048): bytes moved, against the least: 1.1, at most 1.05",
        "v5e, blocks (256, 2048): bundles, against XLA: 1.2, at most 1.1",
    ]


def test_the_kept_record_holds_every_entry_its_targets_and_the_version_it_is_read_by(
    benchmarks: dict[str, ModuleType],
) -> None:
    kept = json.loads((ROOT / "benchmarks" / "static_quality.json").read_text(encoding="utf-8"))
    assert kept["versions"]["libtpu"] == benchmarks["bundles"].LIBTPU
    assert list(kept["kernels"]) == [entry.name for entry in benchmarks["static_quality"].ENTRIES]
    for entry in benchmarks["static_quality"].ENTRIES:
        kernel = kept["kernels"][entry.name]
        assert (kernel["most_bytes_ratio"], kernel["most_bundles_ratio"]) == (entry.most_bytes, entry.most_bundles)
        assert list(kernel["chips"]) == list(benchmarks["static_quality"].CHIPS)
        for programs in kernel["chips"].values():
            assert list(programs) == list(entry.programs())


def test_the_page_shows_the_kept_record(benchmarks: dict[str, ModuleType]) -> None:
    kept = json.loads((ROOT / "benchmarks" / "static_quality.json").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "static-quality.md").read_text(encoding="utf-8")
    assert benchmarks["static_quality"].tables(kept) in page
