"""What differs between the JAX versions: one test per difference, each on the version that is installed."""

import warnings

import jax
import pytest
from jax.experimental.pallas import tpu as pltpu

from pallas_course.kernels import versions

NEW = jax.__version_info__ >= (0, 12)


@pytest.mark.parametrize("version", ["0.10.2", "0.11.0", "0.12.0.1", "0.12.9"])
def test_supported_versions_pass(version: str) -> None:
    versions.check(version)


@pytest.mark.parametrize("version", ["0.9.2", "0.10.1", "0.13.0", "1.0"])
def test_other_versions_get_one_clear_message(version: str) -> None:
    with pytest.raises(versions.UnsupportedVersion, match=rf"JAX {version} is not supported.*\nnext: pip install"):
        versions.check(version)


def test_installed_versions_name_jax() -> None:
    assert versions.installed()["jax"] == jax.__version__


def test_core_map_has_a_primitive_of_its_own_before_012() -> None:
    names = {primitive.name for primitive in versions.call_primitives()}
    assert names == {"pallas_call", "mpmd_map"} | (set() if NEW else {"core_map"})


def test_races_can_be_raised_from_012_on() -> None:
    assert versions.races_are_printed() == ({"on_race": "warn"} if NEW else {})
    pltpu.InterpretParams(detect_races=True, **versions.races_are_printed())


def test_a_mesh_of_cores_is_made_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dict(versions.tensorcore_mesh("core", 1).shape) == {"core": 1}


def test_triton_is_named_for_a_gpu() -> None:
    params = versions.triton_params()
    assert versions.lowers_for_gpu(params)
    assert not versions.lowers_for_gpu(pltpu.CompilerParams())
    assert not versions.lowers_for_gpu(None)
