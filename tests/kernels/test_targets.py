"""Targets: each runs where it says or is refused with every reason, and nothing but an accelerator is timed."""

import inspect
from collections.abc import Iterator
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import triton
from jax.sharding import AbstractDevice, AbstractMesh, AxisType, use_abstract_mesh

from pallas_course.kernels import targets
from pallas_course.kernels.axpy import AXPY, axpy_oracle, blocked_axpy
from pallas_course.kernels.contract import Case
from pallas_course.kernels.targets import TargetRefused, Timing, targeted, time_on_accelerator

axpy = targeted(blocked_axpy)
BLOCK = (8, 128)


def pair() -> tuple[jax.Array, jax.Array]:
    x, y = map(jnp.asarray, Case("pair", ((37, 300), (37, 300)), "ragged on both axes").inputs("float32"))
    return x, y


def mode(x: jax.Array, *, interpret: object = None) -> object:
    return interpret


def names(refused: pytest.ExceptionInfo[TargetRefused]) -> list[str]:
    return [reason.partition(" (")[0] for reason in refused.value.reasons]


def lowered(target: str, platform: str) -> str:
    call = jax.jit(partial(axpy, block=BLOCK, target=target))
    return str(call.trace(*pair()).lower(lowering_platforms=(platform,)).as_text())


@pytest.fixture
def forced() -> Iterator[None]:
    with pltpu.force_tpu_interpret_mode():
        yield


# Where nothing is refused


@pytest.mark.parametrize("target", ["interpret", "simulate"])
def test_a_kernel_that_takes_interpret_is_given_a_target_from_outside(target: str) -> None:
    x, y = pair()
    for call in (partial(axpy, block=BLOCK, target=target), jax.jit(partial(axpy, block=BLOCK, target=target))):
        assert not AXPY.differs(np.asarray(call(x, y)), axpy_oracle(np.asarray(x), np.asarray(y))).any()


def test_each_target_sets_the_mode_it_is_named_for() -> None:
    call = targeted(mode)
    assert call(1.0) is True
    assert call(1.0, target="interpret") is True
    assert call(1.0, target="simulate") == pltpu.InterpretParams(detect_races=True)


def test_simulation_sees_a_block_that_interpretation_moves_back_inside() -> None:
    def body(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
        out_ref[...] = x_ref[...]

    def premultiplied(x: jax.Array, *, interpret: object) -> jax.Array:
        copied: jax.Array = pl.pallas_call(
            body,
            out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
            grid=(2, 2),
            in_specs=[pl.BlockSpec(BLOCK, lambda i, j: (i, j * 128))],
            out_specs=pl.BlockSpec(BLOCK, lambda i, j: (i, j)),
            interpret=interpret,
        )(x)
        return copied

    call = targeted(premultiplied)
    assert call(jnp.ones((16, 256))).shape == (16, 256)
    with pytest.raises(Exception, match="Out-of-bounds block index"):
        call(jnp.ones((16, 256)), target="simulate")
    pltpu.reset_tpu_interpret_mode_state()


def test_target_takes_the_place_of_interpret_in_the_signature_and_can_be_static() -> None:
    parameters = inspect.signature(axpy).parameters
    assert list(parameters) == ["x", "y", "block", "target"]
    assert parameters["target"].default == "interpret"
    x, y = pair()
    assert jax.jit(axpy, static_argnames=("block", "target"))(x, y, BLOCK, target="interpret").shape == x.shape
    with pytest.raises(TypeError, match="interpret"):
        axpy(x, y, interpret=True)


def test_an_unknown_target_is_a_value_error_that_lists_the_four() -> None:
    with pytest.raises(ValueError, match=r"^target must be one of interpret, simulate, tpu, gpu; got 'cpu'$"):
        axpy(*pair(), target="cpu")


# Where it is


def test_without_a_tpu_the_refusal_names_the_backend_and_every_input_placed_elsewhere() -> None:
    x, y = pair()
    with pytest.raises(TargetRefused) as refused:
        axpy(x, np.asarray(y), BLOCK, target="tpu")
    assert names(refused) == ["no TPU backend", "input placed elsewhere"]
    assert "input placed elsewhere (x is on cpu:0, y is on cpu:0)" in refused.value.reasons
    message, remedy = str(refused.value).splitlines()
    assert message == f'target="tpu" is refused: {"; ".join(refused.value.reasons)}'
    assert remedy.startswith("next: ")


def test_an_input_inside_a_container_is_named_by_its_path() -> None:
    call = targeted(lambda weights, *, interpret: weights)
    with pytest.raises(TargetRefused, match=r"\(weights\['w'\]\[1\] is on cpu:0\)"):
        call({"w": (2.0, jnp.ones(3))}, target="tpu")


@pytest.mark.usefixtures("forced")
def test_under_a_forced_interpret_mode_all_three_reasons_are_listed() -> None:
    with pytest.raises(TargetRefused) as refused:
        axpy(*pair(), BLOCK, target="tpu")
    assert names(refused) == ["no TPU backend", "input placed elsewhere", "forced interpret mode"]


def test_each_reason_stands_alone_when_the_others_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "_has_backend", lambda platform: True)
    with pytest.raises(TargetRefused) as refused:
        axpy(*pair(), BLOCK, target="tpu")
    assert names(refused) == ["input placed elsewhere"]
    with pltpu.force_tpu_interpret_mode(), pytest.raises(TargetRefused) as refused:
        targeted(mode)(1.0, target="tpu")
    assert names(refused) == ["forced interpret mode"]
    monkeypatch.undo()
    with pytest.raises(TargetRefused) as refused:
        targeted(mode)(1.0, target="tpu")
    assert names(refused) == ["no TPU backend"]


def test_without_any_reason_the_kernel_runs_uninterpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "_has_backend", lambda platform: True)
    assert targeted(mode)(1.0, target="tpu") is False


def test_nothing_of_a_refused_kernel_has_run() -> None:
    ran: list[object] = []
    with pytest.raises(TargetRefused):
        targeted(lambda x, *, interpret: ran.append(interpret))(jnp.ones(3), target="tpu")
    assert ran == []


# Under a trace


def test_a_traced_call_lowers_for_tpu() -> None:
    assert lowered("tpu", "tpu").count("tpu_custom_call") == 1


@pytest.mark.parametrize("platform", ["cpu", "cuda", "rocm"])
def test_a_traced_call_for_tpu_lowers_for_nothing_else(platform: str) -> None:
    with pytest.raises(NotImplementedError, match=f"not found for platform {platform}"):
        lowered("tpu", platform)


def test_a_traced_call_for_tpu_fails_on_a_cpu_instead_of_falling_back() -> None:
    call = partial(axpy, block=BLOCK, target="tpu")
    x, y = pair()
    for run in (lambda: jax.jit(call)(x, y), lambda: jax.vmap(call)(x[None], y[None])):
        with pytest.raises(NotImplementedError, match="not found for platform cpu"):
            run()


@pytest.mark.usefixtures("forced")
def test_a_traced_call_is_refused_where_interpret_false_would_interpret_unseen() -> None:
    x, y = pair()
    assert jax.jit(partial(blocked_axpy, block=BLOCK, interpret=False))(x, y).shape == x.shape
    with pytest.raises(TargetRefused) as refused:
        jax.jit(partial(axpy, block=BLOCK, target="tpu"))(x, y)
    assert names(refused) == ["forced interpret mode"]


def test_a_call_traced_before_the_mode_was_forced_is_refused_after_it() -> None:
    call = jax.jit(partial(axpy, block=BLOCK, target="tpu"))
    call.trace(*pair())
    with pltpu.force_tpu_interpret_mode(), pytest.raises(TargetRefused):
        call(*pair())


def test_a_mode_forced_for_good_is_seen_and_so_is_its_end() -> None:
    pltpu.set_tpu_interpret_mode()
    try:
        with pytest.raises(TargetRefused, match="forced interpret mode"):
            axpy(*pair(), BLOCK, target="tpu")
    finally:
        pltpu.set_tpu_interpret_mode(None)  # type: ignore[arg-type]
    with pytest.raises(TargetRefused) as refused:
        axpy(*pair(), BLOCK, target="tpu")
    assert "forced interpret mode" not in names(refused)


# The GPU


def triton_double(x: jax.Array, *, interpret: object) -> jax.Array:
    def body(x_ref: jax.Ref, out_ref: jax.Ref) -> None:
        out_ref[...] = x_ref[...] * 2

    like_x = jax.ShapeDtypeStruct(x.shape, x.dtype)
    params = triton.CompilerParams()
    doubled: jax.Array = pl.pallas_call(body, out_shape=like_x, compiler_params=params, interpret=interpret)(x)
    return doubled


@pytest.mark.filterwarnings("ignore:The Pallas Triton backend is deprecated:DeprecationWarning")
def test_a_traced_call_for_gpu_lowers_for_cuda_and_not_for_tpu() -> None:
    call = jax.jit(partial(targeted(triton_double), target="gpu"))
    h100 = AbstractDevice(device_kind="NVIDIA H100 80GB HBM3", num_cores=None, platform="gpu")
    with use_abstract_mesh(AbstractMesh((1,), ("x",), axis_types=(AxisType.Auto,), abstract_device=h100)):
        traced = call.trace(jnp.ones((8, 128)))
        assert targets._holds_a_kernel(traced.lower(lowering_platforms=("cuda",)).as_text())
        with pytest.raises(NotImplementedError, match="not found for platform tpu"):
            traced.lower(lowering_platforms=("tpu",))


def test_a_gpu_is_refused_with_concrete_inputs_since_none_has_run_these_kernels() -> None:
    with pytest.raises(TargetRefused) as refused:
        axpy(*pair(), BLOCK, target="gpu")
    assert names(refused) == ["lowered only", "no GPU backend", "input placed elsewhere"]


# Time


def timed(kernel: object = axpy, baseline: object = None) -> Timing:
    double = partial(kernel, block=BLOCK) if kernel is axpy else kernel
    return time_on_accelerator(double, baseline or (lambda x, y: 2 * x + y), AXPY, *pair(), warmups=2, repeats=3)  # type: ignore[arg-type]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU stands in for an accelerator: what is tested is the bookkeeping, and no number is a time."""
    monkeypatch.setattr(targets, "_unplaced", lambda platforms, inputs: [])
    monkeypatch.setattr(targets, "_holds_a_kernel", lambda program: True)


def test_a_cpu_is_never_timed() -> None:
    with pytest.raises(TargetRefused, match=r"^a time is refused: no TPU or GPU backend") as refused:
        timed()
    assert names(refused) == ["no TPU or GPU backend", "input placed elsewhere"]


@pytest.mark.usefixtures("forced")
def test_a_forced_interpret_mode_is_never_timed() -> None:
    with pytest.raises(TargetRefused) as refused:
        timed()
    assert names(refused) == ["no TPU or GPU backend", "input placed elsewhere", "forced interpret mode"]


def test_an_interpreted_kernel_is_never_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "_unplaced", lambda platforms, inputs: [])
    with pytest.raises(TargetRefused) as refused:
        timed()
    assert names(refused) == ["interpreted kernel"]


def test_a_program_lowered_for_tpu_holds_a_kernel_only_if_it_was_not_interpreted() -> None:
    assert targets._holds_a_kernel(lowered("tpu", "tpu"))
    interpreted = jax.jit(axpy).trace(*pair()).lower(lowering_platforms=("tpu",))
    assert not targets._holds_a_kernel(interpreted.as_text())


@pytest.mark.usefixtures("stand_in")
def test_every_sample_comes_back_in_order_and_compilation_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([0.0, 50.0, 50.0, 80.0, *(float(tick) for n in range(6) for tick in (100 * n, 100 * n + n + 1))])
    monkeypatch.setattr(targets, "perf_counter", lambda: next(ticks))
    got = timed()
    assert got.device == jax.devices()[0].device_kind
    assert (got.kernel.compile_seconds, got.baseline.compile_seconds) == (50.0, 30.0)
    assert got.kernel.run_seconds == (1.0, 3.0, 5.0)
    assert got.baseline.run_seconds == (2.0, 4.0, 6.0)
    assert next(ticks, None) is None


@pytest.mark.usefixtures("stand_in")
def test_programs_are_warmed_up_before_the_first_sample_and_awaited_in_each(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    roles: dict[int, str] = {}
    run = jax.stages.Compiled.__call__

    class Pending:
        """A result that notes when it is awaited: on a CPU it would be ready at once."""

        def __init__(self, role: str, result: jax.Array) -> None:
            self.role, self.result = role, result

        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return np.asarray(self.result)

        def block_until_ready(self) -> None:
            events.append(self.role)

    def start(program: jax.stages.Compiled, *inputs: jax.Array) -> Pending:
        role = roles.setdefault(id(program), "baseline" if roles else "kernel")
        events.append(f"start {role}")
        return Pending(role, run(program, *inputs))

    def clock() -> float:
        events.append("clock")
        return 0.0

    monkeypatch.setattr(targets, "perf_counter", clock)
    monkeypatch.setattr(jax.stages.Compiled, "__call__", start)
    timed()
    kernel, baseline = ["start kernel", "kernel"], ["start baseline", "baseline"]
    assert events[:6] == ["clock", "clock", "start kernel", "clock", "clock", "start baseline"]
    assert events[6:14] == (kernel + baseline) * 2
    assert events[14:] == ["clock", *kernel, "clock", "clock", *baseline, "clock"] * 3


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("role", ["kernel", "baseline"])
def test_a_wrong_answer_has_no_time(role: str) -> None:
    def right(x: jax.Array, y: jax.Array) -> jax.Array:
        return 2 * x + y

    def wrong(x: jax.Array, y: jax.Array) -> jax.Array:
        return right(x, y).at[-1, -1].add(0.5)

    with pytest.raises(ValueError, match=f"^the {role} breaks the contract axpy: 1 of 11100 elements$"):
        timed(**{"kernel": right, "baseline": right, role: wrong})
