"""What every strategy of every stage keeps to."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from diptych.registry import STRATEGIES, strategies

ALL = [
    pytest.param(cls, id=f"{stage}:{name}")
    for stage in STRATEGIES
    for name, cls in strategies(stage).items()
]


@pytest.mark.parametrize("cls", ALL)
def test_strategy_is_a_frozen_dataclass_of_parameters_with_defaults(cls: type) -> None:
    assert dataclasses.is_dataclass(cls)
    strategy = cls()
    for field in dataclasses.fields(cls):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(strategy, field.name, None)
    assert not hasattr(strategy, "__dict__")


@pytest.mark.parametrize("cls", ALL)
def test_strategy_is_its_parameters(cls: type) -> None:
    assert cls() == cls()
    assert hash(cls()) == hash(cls())
    assert pickle.loads(pickle.dumps(cls())) == cls()


@pytest.mark.parametrize("cls", ALL)
def test_repr_of_a_strategy_names_it_and_its_parameters_in_every_process(cls: type) -> None:
    said = repr(cls())
    assert said.startswith(f"{cls.__qualname__}(")
    assert all(f"{field.name}=" in said for field in dataclasses.fields(cls))
    assert " at 0x" not in said


@pytest.mark.parametrize("cls", ALL)
def test_unknown_parameter_is_named_in_the_error(cls: type) -> None:
    with pytest.raises(TypeError, match="no_such_parameter"):
        cls(no_such_parameter=1)
