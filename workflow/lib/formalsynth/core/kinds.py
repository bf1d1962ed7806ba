"""Sections of config that come in variants: a key such as ``kind`` names a model in a register.

The register may be filled after the section's own model is defined, and again later, so a new kind needs only one new file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, SerializationInfo, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

UNKNOWN_KEY = "unknown_key"
"""Type of the error about a key that a variant does not have; its message lists the allowed keys."""


class Variants(ABC):
    """Annotation of a section that comes in variants, as in ``Annotated[Test, ByKind(TESTS)]``."""

    key: ClassVar[str]
    """Key that messages name if no variant fits."""

    @abstractmethod
    def variants(self) -> Mapping[str, type[BaseModel]]:
        """Variants by name."""

    @abstractmethod
    def name_of(self, given: Mapping[Any, Any]) -> object:
        """Return the name of the variant that the keys and values describe; None if they do not name one."""

    def expected(self) -> str:
        """Return the list of allowed variants for messages."""
        return either(list(self.variants()))

    def read(self, given: object) -> BaseModel:
        """Read a section as the model of its variant; a model is returned unchanged.

        Raises:
            ValidationError: it names no variant or an unknown one, or its variant refuses it.
        """
        if isinstance(given, BaseModel):
            return given
        if not isinstance(given, Mapping):
            raise self.refused("dict_type", (), given)
        name = self.name_of(given)
        if name is None:
            raise self.refused("missing", (self.key,), given)
        model = self.variants().get(name) if isinstance(name, str) else None
        if model is None:
            raise self.refused("literal_error", (self.key,), given.get(self.key, name), expected=self.expected())
        try:
            return model.model_validate(given)
        except ValidationError as error:
            raise _with_allowed_keys(model, error) from None

    def refused(self, problem: str | PydanticCustomError, place: tuple[str, ...], given: object, **words: str) -> ValidationError:
        """Return an error about the section, or about the key in it at ``place``."""
        details = InitErrorDetails(type=problem, loc=place, input=given, ctx=words)
        return ValidationError.from_exception_data(self.key, [details])

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        plain = core_schema.plain_serializer_function_ser_schema(_plain, info_arg=True)
        return core_schema.no_info_plain_validator_function(self.read, serialization=plain)

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        models = dict.fromkeys(dict(sorted(self.variants().items())).values())
        return {"oneOf": [handler.resolve_ref_schema(handler(model.__pydantic_core_schema__)) for model in models]}


@dataclass(frozen=True)
class ByKind(Variants):
    """Section whose ``kind`` names its model in a register."""

    key: ClassVar[str] = "kind"
    models: Mapping[str, type[BaseModel]]
    default: str | None = None
    """Kind of a section without that key; None if the key is required."""

    def variants(self) -> Mapping[str, type[BaseModel]]:
        """Kinds in alphabetical order."""
        return {name: self.models[name] for name in sorted(self.models)}

    def name_of(self, given: Mapping[Any, Any]) -> object:
        """Kind given in the section."""
        return given.get("kind", self.default)


def either(names: Sequence[str]) -> str:
    """Return names in quotes, in pydantic's style for allowed values: ``'a', 'b' or 'c'``."""
    quoted = [repr(name) for name in names]
    return " or ".join([*([", ".join(quoted[:-1])] if quoted[:-1] else []), *quoted[-1:]])


def allowed_keys(model: type[BaseModel], place: Sequence[int | str]) -> str:
    """List the keys of the section at ``place``, by walking the models' annotations."""
    annotation: Any = model
    for part in place:
        parent = next((candidate for candidate in models_in(annotation) if part in candidate.model_fields), None)
        if parent is not None:
            annotation = parent.model_fields[str(part)].annotation
    section = next(models_in(annotation), model)
    return f"allowed keys: {', '.join(section.model_fields) or 'none'}"


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in an annotation or in several, and those of variants."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    variants = list(annotation.variants().values()) if isinstance(annotation, Variants) else []
    for part in variants or (annotation if isinstance(annotation, tuple) else get_args(annotation)):
        yield from models_in(part)


def _plain(section: BaseModel, info: SerializationInfo) -> dict[str, Any]:
    return section.model_dump(mode=info.mode, exclude_unset=info.exclude_unset)


def _with_allowed_keys(model: type[BaseModel], error: ValidationError) -> ValidationError:
    """Return the error with the allowed keys added to messages about unknown keys."""
    details = []
    for line in error.errors(include_url=False):
        problem: str | PydanticCustomError = line["type"]
        message = line["msg"]
        if problem == "extra_forbidden":
            message = f"{message}; {allowed_keys(model, line['loc'][:-1])}"
        if problem in ("extra_forbidden", UNKNOWN_KEY):
            problem = PydanticCustomError(UNKNOWN_KEY, "{message}", {"message": message})
        details.append(InitErrorDetails(type=problem, loc=line["loc"], input=line["input"], ctx=line.get("ctx", {})))
    return ValidationError.from_exception_data(error.title, details)
