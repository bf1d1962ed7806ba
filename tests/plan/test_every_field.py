"""Every field of every section of config, in each of its variants: impossible values are refused by their paths.

The sections are found by walking the models, which includes new fields and kinds. They are written to a made-up config that
only names the variants of sections; all mistakes are reported at once, and the message about all fields has that of each.
"""

import types
from typing import Annotated, Union, get_args, get_origin

import pytest
from config_trees import PAPERS, assert_readable, at, paths, untied
from pydantic import BaseModel

from formalsynth.core.kinds import Variants
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.population import POPULATIONS
from formalsynth.settings.messages import ConfigError, validated
from formalsynth_workflow.ledger.tests.base import TESTS
from formalsynth_workflow.plan.model import find_all
from formalsynth_workflow.plan.schemas import SCHEMAS
from formalsynth_workflow.show.figure import FIGURES
from formalsynth_workflow.show.table import TABLES
from formalsynth_workflow.study import STUDIES

FILES_OF = ["config", "paper", "claims", "errata"]
"""Kinds of files that are tried."""
WRONG = {"wrong": -7}
"""Keys and values, which no value can be."""


@pytest.fixture(scope="module")
def made_up():
    """Trees with a section of every model; all that a section holds is what tells its variant, and sections in it."""
    find_all()
    synthesizers = [{"mechanism": name} for name in MECHANISMS]
    synthesizers += [{"study": name, "arm": arm} for name, study in STUDIES.items() for arm in study.arms]
    scenarios = [{"population": {"name": name}} for name in POPULATIONS] + [{"study": {"name": name}} for name in STUDIES]
    scenarios.append({"file": {}, "stand_in": {"name": next(iter(POPULATIONS))}})
    own = {"population": {"name": next(iter(POPULATIONS))}, "family": {"inputs": {"dose": {}}}}
    figures = [{"kind": name} for name in FIGURES] + [{"same_as": 1}]
    return {
        "config": {"scales": {"paper": {}}},
        "paper": {
            "readings": {"first": {}},
            "synthesizers": {f"synthesizer{k}": entry for k, entry in enumerate(synthesizers)},
            "scenarios": {f"scenario{k}": entry for k, entry in enumerate(scenarios)} | {"own": own},
            "figures": dict(enumerate(figures, start=1)),
            "tables": {k: {"kind": name} for k, name in enumerate(TABLES, start=1)},
        },
        "claims": {"claims": [{"estimate": {}, "test": {"kind": name}} for name in TESTS]},
        "errata": {"errata": [{"places": [{}]}]},
    }


def kind_of(annotation, metadata=()):
    """Variants of an annotation if it has them, else its origin or itself, with the annotations inside."""
    if get_origin(annotation) is Annotated:
        annotation, *metadata = get_args(annotation)
    variants = next((item for item in metadata if isinstance(item, Variants)), None)
    if variants:
        return variants, ()
    if get_origin(annotation) in (Union, types.UnionType):
        return Union, [part for part in get_args(annotation) if part is not type(None)]
    return get_origin(annotation) or annotation, get_args(annotation)


def is_model(kind):
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def sections(kind, inside, value, path=()):
    """Every section in a value, as its model and its path; a section that is not there counts as an empty one."""
    if isinstance(kind, Variants):
        kind = kind.variants().get(kind.name_of(value)) if isinstance(value, dict) else None
    if is_model(kind) and isinstance(value, dict):
        yield kind, path
        for name, field in kind.model_fields.items():
            yield from sections(*kind_of(field.annotation, field.metadata), value.get(name, {}), (*path, name))
    elif kind is Union:
        for part in inside:
            yield from sections(*kind_of(part), value, path)
    elif kind is dict and isinstance(value, dict):
        for key, inner in value.items():
            yield from sections(*kind_of(inside[1]), inner, (*path, key))
    elif kind is list and isinstance(value, list):
        for k, inner in enumerate(value):
            yield from sections(*kind_of(inside[0]), inner, (*path, k))


def models(kind, inside=()):
    """Every model that a value may hold."""
    if isinstance(kind, Variants):
        for model in kind.variants().values():
            yield from models(model)
    elif is_model(kind):
        yield kind
        for field in kind.model_fields.values():
            yield from models(*kind_of(field.annotation, field.metadata))
    else:
        for part in inside if kind in (Union, dict, list) else ():
            yield from models(*kind_of(part))


def places(kind, inside, path=()):
    """Paths in a value to where keys and values are no part of it: its leaves, and lists."""
    if kind is Union:
        inner_places = [place for part in inside for place in places(*kind_of(part), path)]
        # what may be a section itself is one
        sectional = any(kind_of(part)[0] is dict or is_model(kind_of(part)[0]) for part in inside)
        yield from dict.fromkeys(place for place in inner_places if not (sectional and place == path))
    elif kind is list:
        yield path
        yield from places(*kind_of(inside[0]), (*path, 0))
    elif kind is dict:
        yield from places(*kind_of(inside[1]), (*path, "x"))
    elif not is_model(kind) and not isinstance(kind, Variants):
        yield path


def holding(path, value):
    """A value that holds another one at a path."""
    for key in reversed(path):
        value = [value] if key == 0 else {key: value}
    return value


def put(tree, path, value):
    """Set an entry, with the sections around it."""
    *above, last = path
    for key in above:
        tree = tree[key] if isinstance(tree, list) else tree.setdefault(key, {})
    tree[last] = value


def message_of(name, tree, tmp_path):
    """Why a tree is refused, by lines without the file."""
    try:
        validated(SCHEMAS[name], tree, tmp_path / f"{name}.yaml")
    except ConfigError as error:
        return str(error).replace(f"{tmp_path}/{name}.yaml: ", "").splitlines()
    return []


def dotted(path):
    return ".".join(map(str, path))


@pytest.mark.parametrize("name", FILES_OF)
def test_the_made_up_config_has_every_section(made_up, name):
    made_up_models = {model for model, _ in sections(SCHEMAS[name], (), made_up[name])}
    assert made_up_models == set(models(SCHEMAS[name]))


@pytest.mark.parametrize("name", FILES_OF)
def test_a_section_in_place_of_a_value_is_refused_by_its_path(made_up, tmp_path, name):
    """Each field is tried at all of its places, in lists and under free keys, too."""
    tried = {}
    for model, path in sections(SCHEMAS[name], (), made_up[name]):
        for field, info in model.model_fields.items():
            if field not in (section := value_at(made_up[name], path)) or not isinstance(section[field], dict | list):
                for k, place in enumerate(places(*kind_of(info.annotation, info.metadata))):
                    # what tells the variant is tried alone
                    tried.setdefault((k, (*path, field) if field in section else ()), []).append(((*path, field), place))
    assert sum(map(len, tried.values())) > {"config": 20, "paper": 400, "claims": 40, "errata": 10}[name]
    for wrong in tried.values():
        tree = untied(made_up[name])
        for field, place in wrong:
            put(tree, field, holding(place, WRONG))
        lines = message_of(name, tree, tmp_path)
        for field, place in wrong:
            key = dotted((*field, *place))
            starts = (f"{key}: given {WRONG}; ", f"{key}.wrong: given -7; ")
            assert any(line.startswith(starts) for line in lines), (key, lines)


@pytest.mark.parametrize("name", FILES_OF)
def test_a_key_that_a_section_does_not_have_is_refused_with_those_that_it_has(made_up, tmp_path, name):
    tree, every = untied(made_up[name]), list(sections(SCHEMAS[name], (), made_up[name]))
    for _, path in every:
        put(tree, (*path, "unheard"), [[-7]])
    lines = message_of(name, tree, tmp_path)
    for model, path in every:
        start = f"{dotted((*path, 'unheard'))}: given [[-7]]; "
        (line,) = [line for line in lines if line.startswith(start)]
        assert line.endswith(f"allowed keys: {', '.join(model.model_fields) or 'none'}"), line


def value_at(tree, path):
    """The section at a path; an empty one where there is none."""
    for key in path:
        tree = tree[key] if isinstance(tree, list) else tree.get(key, {})
    return tree


def speaks_of(annotation, type):
    """True if a type is a part of an annotation."""
    return annotation is type or any(speaks_of(part, type) for part in get_args(annotation))


def numbers(name, tree):
    """A path to a number for each field of each model that has one in a tree, in lists and under free keys, too."""
    fields, models_at = {}, {path: model for model, path in sections(SCHEMAS[name], (), tree)}
    for place in paths(tree):
        if type(at(tree, place)) in (int, float):
            depth = max(k for k in range(len(place)) if place[:k] in models_at)
            model, field = models_at[place[:depth]], place[depth]
            if not speaks_of(model.model_fields[field].annotation, bool):
                fields.setdefault((model, field, len(place)), place)
    return fields


@pytest.mark.parametrize("name", ["config", "paper", "claims"])
def test_true_and_what_is_no_number_are_refused_where_numbers_are(shipped, tmp_path, name):
    """One number for each field of the shipped files."""
    files = {"config": ["config.yaml"], "paper": [f"papers/{paper}.yaml" for paper in PAPERS]}
    tried = set()
    for file in files.get(name, [f"claims/{paper}.yaml" for paper in PAPERS]):
        tree = untied(shipped[file])
        fields = numbers(name, tree)
        for place in [place for field, place in fields.items() if field not in tried]:
            *way, last = place
            where = at(tree, way)
            given = where[last]
            for wrong in (True, float("nan")):
                where[last] = wrong
                lines = message_of(name, tree, tmp_path)
                # a number that has to be above another is blamed with it
                starts = (f"{dotted(place)}: given {wrong}; ", f"{dotted(way)}: given {{")
                assert any(line.startswith(starts) and repr(wrong) in line for line in lines), (place, wrong, lines)
                assert_readable("\n".join(f"{file}: {line}" for line in lines))
            where[last] = given
        assert message_of(name, tree, tmp_path) == []
        tried |= fields.keys()
    assert len(tried) > {"config": 15, "paper": 50, "claims": 10}[name]
