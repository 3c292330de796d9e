"""Makes src/millwright/types/_models.py, _params.py, _texts.py and __init__.py out of the API document.

The document describes what a server of its own version sends; a client meets other versions. So the models are made
from a relaxed copy: patterns, ranges and lengths are dropped, enumerations are open (closed in what is sent), formats other than date-time are
plain strings, and every object keeps members that it does not know.

    python scripts/generate.py            writes the files
    python scripts/generate.py --check    exits with 1 when one of them differs
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Set

PACKAGE = Path(__file__).resolve().parent.parent
DOCUMENT = PACKAGE.parent.parent / "schemas/generated/openapi.json"
TYPES = PACKAGE / "src/millwright/types"

Schema = Dict[str, Any]
Schemas = Dict[str, Schema]

KEPT = {"$ref", "additionalProperties", "allOf", "anyOf", "const", "description", "enum", "format", "items", "properties", "required", "title", "type"}
"""What a type is made of; every other keyword is a constraint on values, or says something to other tools."""

BANNER = '"""{}\n\nGenerated from the API document by scripts/generate.py; do not edit.\n"""\n'

# Nothing is sent to these; test/test_operations.py has the reasons.
NOT_SERVED = {
    "createSession", "getSession", "deleteSession", "exchangeToken", "pushFactory",
    "getVersionedSchema", "checkConversationRedirect", "checkSessionRedirect",
    "getRunByExternalReference",
    "getRunTranscript",
    "getConversationTranscript",
    "downloadScreenshot",
    "createConversationFollowup",
    "getRunHarnessUsage",
    "listHandoffAttachments",
    "listTasks",
    "getTask",
}  # fmt: skip

COMMON_OPTIONS = [
    "--input-file-type", "jsonschema",
    "--target-python-version", "3.10",
    "--no-use-union-operator",
    "--enum-field-as-literal", "all",
    "--use-title-as-name",
    "--use-schema-description",
    "--use-field-description",
    "--use-inline-field-description",
    "--use-type-alias",
    "--use-annotated",
    "--disable-timestamp",
    "--skip-root-model",
    "--use-double-quotes",
    "--collapse-root-models",
    "--formatters", "builtin",
    "--import-overrides", '{"TypedDict": "typing_extensions"}',
]  # fmt: skip


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="compare only")
    check = arguments.parse_args().check
    differing = [path for path, text in generated().items() if not same(path, text, write=not check)]
    for path in differing:
        print(f"{path.relative_to(PACKAGE)}: {'not what the API document says' if check else 'written'}")
    return 1 if check and differing else 0


def same(path: Path, text: str, write: bool) -> bool:
    """Whether the file holds the text; writes it otherwise, if asked to."""
    if path.exists() and path.read_text("utf-8") == text:
        return True
    if write:
        path.write_text(text, "utf-8")
    return False


def generated() -> Dict[Path, str]:
    """The files: path → text."""
    document = json.loads(DOCUMENT.read_text("utf-8"))
    schemas = {name: schema for name, schema in document["components"]["schemas"].items()}
    modules = {"_models": models(schemas), "_params": params(document), "_texts": texts(schemas)}
    files = {TYPES / f"{name}.py": text for name, text in modules.items()}
    return {**files, TYPES / "__init__.py": exports(modules)}


def exports(modules: Dict[str, str]) -> str:
    """The module that all types are imported from."""
    names = {module: (re.findall(r"^class (\w+)|^(\w+): TypeAlias", text, re.MULTILINE)) for module, text in modules.items()}
    exported = {module: sorted(first or second for first, second in found) for module, found in names.items()}
    lines = [BANNER.format("Types of the API: models, and what may be sent."), "from ._base import ModelBase"]
    for module, found in exported.items():
        lines += [f"from .{module} import (", *(f"    {name}," for name in found), ")"]
    everything = sorted(["ModelBase", *(name for found in exported.values() for name in found)])
    return "\n".join([*lines, "", "__all__ = [", *(f'    "{name}",' for name in everything), "]", ""])


# --- components that are texts -----------------------------------------------------------------------------------


def texts(schemas: Schemas) -> str:
    """Components that are a text and no object: an alias each; of an enumeration two, open in answers, closed (`…Param`) in what is sent."""
    lines = [BANNER.format("The components that are texts."), "from typing import Union", "", "from typing_extensions import Literal, TypeAlias", ""]
    for name, schema in sorted(schemas.items()):
        if not is_text(schema):
            continue
        values = ", ".join(json.dumps(value) for value in schema.get("enum", []))
        if values:
            lines += [f"{name}Param: TypeAlias = Literal[{values}]", docstring(f"What is sent as a {name}."), ""]
        lines += [f"{name}: TypeAlias = {f'Union[{name}Param, str]' if values else 'str'}", docstring(schema["description"]), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def is_text(schema: Schema) -> bool:
    return schema.get("type") == "string"


def without_texts(schemas: Schemas, text_names: Iterable[str], behind: Mapping[str, str] = {}) -> Schemas:
    """References to texts become the aliases of _texts.py. `behind`: what the name of an alias has behind it."""
    replaced = json.dumps({name: schema for name, schema in schemas.items() if not is_text(schema)})
    for name in text_names:
        alias = json.dumps({"type": "string", "customTypePath": f"millwright.types._texts.{name}{behind.get(name, '')}"})[1:-1]
        replaced = replaced.replace(f'"$ref": "#/components/schemas/{name}"', alias)
    return json.loads(replaced)


# --- models of answers -------------------------------------------------------------------------------------------


def models(schemas: Schemas) -> str:
    made = hoisted({name: relaxed(schema) for name, schema in schemas.items() if not is_text(schema)})
    text = generate(
        without_texts(made, [name for name, schema in schemas.items() if is_text(schema)]),
        ["--output-model-type", "pydantic_v2.BaseModel", "--base-class", "millwright.types._base.ModelBase", "--output-datetime-class", "AwareDatetime"],
    )
    return finished(without_nulls(text, made), "Models of what the service answers and takes.")


def without_nulls(text: str, schemas: Schemas) -> str:
    """Members that may be absent and not null: `Omittable` in place of `Optional`, which would take both."""
    owner, lines = "", []
    for line in text.split("\n"):
        owner = found[1] if (found := re.match(r"class (\w+)\(", line)) else owner
        member = re.match(r"    (\w+): Optional\[.+\] = None$", line)
        if member and not is_nullable(members_of(schemas[owner])[member[1]]):
            line = line.replace("Optional[", "Omittable[", 1)
        lines.append(line)
    return "\n".join(lines).replace("import ModelBase\n", "import ModelBase, Omittable\n", 1)


def members_of(schema: Schema) -> Schemas:
    parts = [schema, *schema.get("allOf", [])]
    return {name: member for part in parts for name, member in part.get("properties", {}).items()}


def is_nullable(schema: Schema) -> bool:
    """Whether null fits; it does where nothing is said."""
    if "anyOf" in schema:
        return any(is_nullable(part) for part in schema["anyOf"])
    return "$ref" not in schema and ("type" not in schema or "null" in as_list(schema["type"]))


def relaxed(schema: Any, is_open: bool = True) -> Any:
    """The schema without constraints on values. `is_open`: its enumerations take other texts, too."""
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key in KEPT}
    if "properties" in kept:
        kept["properties"] = {name: relaxed(member, is_open) for name, member in kept["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), dict):
            kept[key] = relaxed(kept[key], is_open)
    for key in ("allOf", "anyOf"):
        if key in kept:
            kept[key] = [relaxed(part, is_open) for part in kept[key] if "if" not in part]
            if not kept[key]:
                del kept[key]
    if kept.get("format") != "date-time":
        kept.pop("format", None)
    if isinstance(kept.get("additionalProperties"), bool):
        del kept["additionalProperties"]
    return enumerated(kept, is_open)


def enumerated(schema: Schema, is_open: bool) -> Schema:
    """An enumeration of texts. One that is open any other text fits too; the known ones stay for completion and for documentation."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if values is None:
        return schema
    known = [value for value in values if isinstance(value, str)]
    rest = {key: value for key, value in schema.items() if key not in ("enum", "const", "type")}
    if not known:
        return {**rest, "type": schema.get("type", "integer")}
    parts: List[Schema] = [{"type": "string", "enum": known}, *([{"type": "string"}] if is_open else [])]
    if None in values or "null" in as_list(schema.get("type")):
        parts.append({"type": "null"})
    return {**rest, "anyOf": parts}


def hoisted(schemas: Schemas) -> Schemas:
    """Every object with members of its own under a name of its own: the component's and the member's, joined."""
    found: Schemas = {}

    def visit(schema: Schema, name: str, top: bool) -> Schema:
        if "properties" in schema:
            schema["properties"] = {key: visit(member, name + pascal(key), False) for key, member in schema["properties"].items()}
        if isinstance(schema.get("items"), dict):
            schema["items"] = visit(schema["items"], name + "Item", False)
        if isinstance(schema.get("additionalProperties"), dict):
            schema["additionalProperties"] = visit(schema["additionalProperties"], name + "Value", False)
        for key in ("anyOf", "allOf"):
            if key in schema:
                schema[key] = [visit(part, name, key == "allOf") for part in schema[key]]
        if top or not schema.get("properties"):
            return schema
        return under_its_name(schema, name)

    def under_its_name(schema: Schema, name: str) -> Schema:
        if name in schemas or name in found:
            raise SystemExit(f"generate.py: two types would be called {name}")
        nullable = "null" in as_list(schema.get("type"))
        found[name] = {**schema, "title": name, "type": "object"}
        described = {"description": schema["description"]} if "description" in schema else {}
        reference = {"$ref": f"#/components/schemas/{name}"}
        return {"anyOf": [reference, {"type": "null"}], **described} if nullable else {**reference, **described}

    named = {name: visit(copy.deepcopy(schema), name, True) for name, schema in schemas.items()}
    return {**named, **found}


# --- what is sent ------------------------------------------------------------------------------------------------


def params(document: Schema) -> str:
    """Bodies and what they hold as `<component>Param`, the query of an operation as `<Operation>Params`."""
    components: Schemas = document["components"]["schemas"]
    operations = [operation for path in document["paths"].values() for operation in path.values() if operation["operationId"] not in NOT_SERVED]
    sent = reachable([operation.get("requestBody") for operation in operations], components)
    texts_of = [name for name, schema in components.items() if is_text(schema)]
    closed = {name: "Param" for name in texts_of if "enum" in components[name]}
    bodies = {name: relaxed(components[name], is_open=False) for name in sent if name not in texts_of}
    queries = {pascal(operation["operationId"]) + "Params": relaxed(query_of(operation), is_open=False) for operation in operations if query_of(operation)["properties"]}
    named = renamed(hoisted({**bodies, **queries}), set(queries))
    text = generate(
        with_texts_as_times(without_texts(named, texts_of, closed)),
        ["--output-model-type", "typing.TypedDict", "--use-generic-container-types", "--output-datetime-class", "datetime"],
    )
    return finished(text, "What the service takes: bodies (`…Param`) and queries (`…Params`), for `**` and for annotations.")


def query_of(operation: Schema) -> Schema:
    """The query parameters as an object."""
    parameters = [parameter for parameter in operation.get("parameters", []) if parameter["in"] == "query"]
    return {
        "title": pascal(operation["operationId"]) + "Params",
        "description": f"Query of {operation['operationId']}.",
        "type": "object",
        "properties": {parameter["name"]: {**parameter["schema"], "description": parameter["description"]} for parameter in parameters},
        "required": [parameter["name"] for parameter in parameters if parameter.get("required")],
    }


def reachable(start: Any, components: Schemas) -> List[str]:
    """Names of the components that are referred to from here, directly or not, sorted."""
    found: Set[str] = set()
    waiting = references(start)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting |= references(components[name])
    return sorted(found)


def references(value: Any) -> Set[str]:
    return set(re.findall(r"#/components/schemas/(\w+)", json.dumps(value)))


def renamed(schemas: Schemas, kept: Set[str]) -> Schemas:
    """Every type that is no query with `Param` behind its name: the models have the plain ones."""
    text = re.sub(r'#/components/schemas/(\w+)"', lambda match: f'{match.group(0)[:-1]}Param"' if match.group(1) in schemas else match.group(0), json.dumps(schemas))
    return {name if name in kept else f"{name}Param": {**schema, "title": name if name in kept else f"{name}Param"} for name, schema in json.loads(text).items()}


def with_texts_as_times(value: Any) -> Any:
    """Times may be sent as they are written, too."""
    if isinstance(value, list):
        return [with_texts_as_times(part) for part in value]
    if not isinstance(value, dict):
        return value
    if value.get("format") == "date-time":
        rest = {key: part for key, part in value.items() if key not in ("type", "format")}
        null = [{"type": "null"}] if "null" in as_list(value["type"]) else []
        return {**rest, "anyOf": [{"type": "string", "format": "date-time"}, {"type": "string"}, *null]}
    return {key: with_texts_as_times(part) for key, part in value.items()}


# --- the generator -----------------------------------------------------------------------------------------------


def generate(schemas: Schemas, options: List[str]) -> str:
    """What datamodel-code-generator makes of the schemas."""
    definitions = json.loads(json.dumps(schemas).replace("#/components/schemas/", "#/$defs/"))
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "document.json"), Path(folder, "made.py")
        source.write_text(json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": definitions}), "utf-8")
        program = str(Path(sys.executable).with_name("datamodel-codegen"))
        command = [program, "--input", str(source), "--output", str(target), *COMMON_OPTIONS, *options]
        subprocess.run(command, check=True, cwd=folder)
        return target.read_text("utf-8")


def finished(text: str, what: str) -> str:
    """The generator's text under our own head line, with docstrings of one line where they fit."""
    body = text[text.index("from __future__") :]
    # Asked for because of the aliases of _texts.py, which are plain texts.
    body = re.sub(r"    model_config = ConfigDict\(\n        arbitrary_types_allowed=True,\n    \)\n", "", body).replace(", ConfigDict", "")
    short = re.sub(r'"""\n\s+([^\n"]+)\n\s+"""', lambda match: docstring(match.group(1)), body)
    return f"{BANNER.format(what)}\n{short}"


def docstring(text: str) -> str:
    return f'"""{text}"""'


def as_list(value: Any) -> List[Any]:
    return value if isinstance(value, list) else [value]


def pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


if __name__ == "__main__":
    sys.exit(main())
