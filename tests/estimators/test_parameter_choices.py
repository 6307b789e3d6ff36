"""The types of parameters that take words: those of the docstring, and nothing else is accepted."""

import inspect
import re
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

import lincent
from lincent.paper import baselines
from support.labeled import two_classes


def words_of(hint):
    """The words of a Literal, also one that may be None."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return {word for part in get_args(hint) for word in words_of(part)}


def choices():
    for package in (lincent, baselines):
        for name in package.__all__:
            kind = getattr(package, name)
            if not inspect.isclass(kind):
                continue
            hints = get_type_hints(kind)  # of each class in the names of its module
            for parameter in inspect.signature(kind).parameters:
                if words := words_of(hints.get(parameter)):
                    yield pytest.param(kind, parameter, words, id=f"{name}-{parameter}")


@pytest.mark.parametrize(("kind", "parameter", "words"), list(choices()))
def test_the_type_is_what_the_docstring_says_and_what_is_accepted(kind, parameter, words):
    said = re.search(rf"^{parameter} : {{(.+?)}}", inspect.getdoc(kind), re.M)
    assert set(re.findall(r'"([^"]+)"', said.group(1))) == words
    model = kind(**{parameter: "no such word"})
    with pytest.raises(ValueError, match=parameter):
        model.fit(*two_classes(m=40, n=2))


def test_words_are_types_wherever_a_docstring_lists_them():
    found = {(param.values[0], param.values[1]) for param in choices()}
    for package in (lincent, baselines):
        for name in package.__all__:
            kind = getattr(package, name)
            if inspect.isclass(kind):
                listed = re.findall(r'^(\w+) : {"[^}]+}(?: or None)?, ', inspect.getdoc(kind), re.M)
                assert {(kind, parameter) for parameter in listed} <= found
