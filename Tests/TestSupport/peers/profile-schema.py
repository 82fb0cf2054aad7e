"""Compares TOML documents with a JSON Schema.

Standard input: {"schema": SCHEMA, "documents": {NAME: TOML}}. Standard output: {NAME: PROBLEM or null}.
"""

import json
import sys
import tomllib

from jsonschema import Draft4Validator


def problem(validator, text):
    errors = sorted(validator.iter_errors(tomllib.loads(text)), key=str)
    return f"{errors[0].json_path}: {errors[0].message}" if errors else None


asked = json.load(sys.stdin)
Draft4Validator.check_schema(asked["schema"])
validator = Draft4Validator(asked["schema"])
json.dump({name: problem(validator, text) for name, text in asked["documents"].items()}, sys.stdout)
