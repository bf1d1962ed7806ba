"""Typed fields of a record in OpenDP's registry of deployments, as far as a release fills them in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from formalsynth.core.model import Model
from formalsynth.custodian.schema import Sector

Texts = Annotated[list[str], Field(min_length=1)]


class Basic(Model):
    """The data product in general."""

    name: str
    data_curators: Texts
    intended_use: str
    data_product_type: Literal["Synthetic data"] = "Synthetic data"
    data_product_region: str
    data_product_sector: Sector | None
    description: str
    publication_date: str = Field(pattern=r"^\d{4}-\d{2}-\d{2}$")


class Variant(Model):
    """The variant of differential privacy; the registry knows neither metrics nor other guarantees, so these are Custom."""

    variant_name: Literal["Pure DP", "Custom"]
    data_domain: str
    unprotected_quantities: str


class PrivacyParameters(Model):
    """The numbers of the guarantee."""

    epsilon: float


class PrivacyLoss(Model):
    """Who is protected, and how much."""

    privacy_unit: str
    privacy_unit_details: str
    privacy_parameters: PrivacyParameters | None
    privacy_parameters_details: str


class DeploymentModel(Model):
    """Whom the data subjects have to trust, and how often data come out."""

    model_name: Literal["Central"] = "Central"
    release_type: Literal["One release", "Many releases"]
    release_type_details: str
    data_source_type: Literal["Static"] = "Static"
    access_type: Literal["Non-interactive"] = "Non-interactive"


class Accounting(Model):
    """How the losses of the parts of a release add up."""

    post_processing: str
    composition: str


class Implementation(Model):
    """Steps before the mechanism, the mechanism itself, and the reasons."""

    preprocessing_and_hyperparameter_tuning: str
    mechanisms: str
    justification: str


class Administrative(Model):
    """Authors of the record."""

    registry_authors: Texts


class Deployment(Model):
    """The sections of a record."""

    basic: Basic
    dp_variant: Variant
    privacy_loss: PrivacyLoss
    deployment_model: DeploymentModel
    accounting: Accounting
    implementation: Implementation
    administrative: Administrative


class Card(Model):
    """A record: a draft that has every section."""

    url_slug: str
    status: Literal["Draft"] = "Draft"
    tier: Literal[3] = 3
    deployment: Deployment
