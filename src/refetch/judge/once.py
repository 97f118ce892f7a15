"""A property that is computed at most once for an object.

`functools.cached_property` takes a lock on Python 3.11, which costs more than most of what is
cached here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - used as a decorator, like property
    """Decorator: the value of the method is kept in the object under the method's name."""

    def __init__(self, method: Callable[[Any], T]) -> None:
        self._method = method
        self._name = method.__name__
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, owner: None, kind: type[Any]) -> once[T]: ...

    @overload
    def __get__(self, owner: object, kind: type[Any]) -> T: ...

    def __get__(self, owner: object | None, kind: type[Any]) -> once[T] | T:
        if owner is None:
            return self
        value: T = self._method(owner)
        owner.__dict__[self._name] = value
        return value
