"""The reader of final bundles: it counts what the text decides and stops at what it does not."""

import importlib.metadata

import pytest

from pallas_course.evidence import bundles

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


def test_loops_copies_and_the_bundles_after_a_branch_are_counted() -> None:
    issued = bundles.count(LOOP, TABLE, 32)
    assert issued.bundles == 1 + 8 * 10 + 1
    assert issued.copied == {"hbm_to_vmem": 4 * 128 * 32, "vmem_to_hbm": 64 * 32}
    assert issued.slots == {"VALU": 0, "SALU": 0.5}


def test_a_value_kept_in_memory_decides_as_well_as_one_in_a_register() -> None:
    kept = (
        LOOP.replace("smov 0 /* a count */", "smov 0  ;;  %s42_s9 = smov 0")
        .replace("   0x4   : > { ", "   0x4   : > { %40 = sst [smem:[#allocation7_spill]] %s11_s1  ;;  ")
        .replace("   0x5   : > { ", "   0x5   : > { %s41_s9 = sld [smem:[#allocation7_spill]]  ;;  ")
        .replace("totalorder %s14_s1, 8", "totalorder %s41_s9, 8")
    )
    # The count is kept before it grows, and compared before it is read back: two turns more.
    assert bundles.count(kept, TABLE, 32).bundles == 1 + 10 * 10 + 1


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
def test_what_cannot_be_known_stops_the_count(was: str, becomes: str, complaint: str) -> None:
    assert was in LOOP
    with pytest.raises(bundles.Unreadable, match=complaint):
        bundles.count(LOOP.replace(was, becomes), TABLE, 32, 1000)


def test_a_table_of_other_bundles_stops_the_count() -> None:
    with pytest.raises(bundles.Unreadable, match="a table of 11 rows and 2 slots for 12 bundles"):
        bundles.count(LOOP, TABLE.removesuffix("0 1\n"), 32)


def test_a_slot_without_a_rule_stops_the_count() -> None:
    with pytest.raises(bundles.Unreadable, match="no rule for a slot MATPUSH"):
        bundles.count(LOOP, TABLE.replace("VALU", "MATPUSH"), 32)


def test_programs_together_share_their_slots_by_their_bundles() -> None:
    one = bundles.Issued(300, {"hbm_to_vmem": 5, "vmem_to_smem": 1}, {"MXU": 1.0, "XLU": 0.0001})
    other = bundles.Issued(100, {"hbm_to_vmem": 1, "vmem_to_hbm": 2}, {"MXU": 0.0, "XLU": 0.0})
    both = bundles.together([one, other])
    assert (both.bundles, both.outside, both.used) == (400, 8, {"MXU": 0.75})


def test_another_libtpu_and_a_chip_without_rules_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: bundles.LIBTPUS[0])
    assert bundles.unread("v5e") == ""
    assert "v5p" in bundles.unread("v5p")
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.0.52")
    assert bundles.unread("v5e").startswith("libtpu is 0.0.52, and its bundles are read as")
