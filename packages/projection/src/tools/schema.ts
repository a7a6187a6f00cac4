import { setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { isRecord, safeValueFromUnknown } from "../safe/value.js";
import type { SchemaIssue, SchemaIssueCode } from "./issues.js";

/** A schema in the closed dialect, or the reasons why it is not. */
export type ReadSchema =
  | { readonly schema: JsonObject; readonly issues: readonly [] }
  | { readonly schema: undefined; readonly issues: readonly SchemaIssue[] };

type Source = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 16;
const MAX_MEMBERS = 256;
const MAX_TEXT = 4096;
const MAX_ISSUES = 64;

/** Annotations. `title` and `description` are kept: models and people choose tools by them. */
const KEPT_ANNOTATIONS = ["title", "description"];
const DROPPED_ANNOTATIONS = new Set(
  "default examples $comment deprecated readOnly writeOnly $schema $id".split(" "),
);
const REFERENCES = new Set(
  "$ref $defs definitions $dynamicRef $recursiveRef $anchor $dynamicAnchor".split(" "),
);
const REFINEMENTS = new Set(
  (
    "format multipleOf exclusiveMinimum exclusiveMaximum minItems maxItems uniqueItems contains " +
    "minProperties maxProperties dependentRequired"
  ).split(" "),
);
const TRANSFORMATIONS = new Set("contentEncoding contentMediaType contentSchema".split(" "));
const OPEN_MEMBERS = new Set("patternProperties propertyNames unevaluatedProperties".split(" "));

const KEYS: Readonly<Record<string, readonly string[]>> = {
  object: ["type", "properties", "required", "additionalProperties"],
  string: ["type", "enum", "const", "pattern", "minLength", "maxLength"],
  number: ["type", "minimum", "maximum"],
  integer: ["type", "minimum", "maximum"],
  boolean: ["type"],
  null: ["type"],
  array: ["type", "items", "prefixItems"],
  union: ["anyOf"],
};

/**
 * Reads a JSON Schema of the closed dialect: objects, strings with `enum`, `pattern` and lengths,
 * numbers and integers with bounds, booleans, lists, `anyOf`, and nullable types. A keyword that
 * changes validity is never ignored: it is refused.
 */
export function readToolSchema(
  source: unknown,
  annotations: "keep" | "strip" = "keep",
): ReadSchema {
  const copied = safeValueFromUnknown(source);
  const reader = new SchemaReader(annotations === "keep");
  const schema = reader.root(copied);
  return schema === undefined || reader.issues.length > 0
    ? { schema: undefined, issues: reader.issues }
    : { schema, issues: [] };
}

class SchemaReader {
  readonly issues: SchemaIssue[] = [];
  readonly #keepsWords: boolean;

  constructor(keepsWords: boolean) {
    this.#keepsWords = keepsWords;
  }

  root(value: JsonValue | undefined): JsonObject | undefined {
    if (!isRecord(value)) return this.#refuse("", "expected-object");
    if (value["type"] !== "object") return this.#refuse("", "root-object-required");
    return this.#node(value, "", 0);
  }

  #node(value: unknown, path: string, depth: number): JsonObject | undefined {
    if (!isRecord(value)) return this.#refuse(path, "expected-object");
    if (depth > MAX_DEPTH) return this.#refuse(path, "exceeds-limit");
    const type = this.#typeOf(value, path);
    if (type === undefined) return undefined;
    this.#checkKeys(value, type.name, path, depth);
    const node = this.#build(type.name, value, path, depth);
    if (node === undefined) return undefined;
    if (!type.nullable) return { ...node, ...this.#words(value, path) };
    return { anyOf: [node, { type: "null" }], ...this.#words(value, path) };
  }

  #typeOf(value: Source, path: string): { name: string; nullable: boolean } | undefined {
    const { type } = value;
    if (type === undefined) {
      if (Object.hasOwn(value, "anyOf")) return { name: "union", nullable: false };
      if (Object.hasOwn(value, "enum") || Object.hasOwn(value, "const")) {
        return { name: "string", nullable: false };
      }
      const reference = Object.keys(value).find((key) => REFERENCES.has(key));
      if (reference === undefined) return this.#refuse(`${path}/type`, "missing");
      return this.#refuse(`${path}/${reference}`, "recursive-schema-unsupported");
    }
    const names = Array.isArray(type) ? type.filter((name) => name !== "null") : [type];
    const [name] = names as unknown[];
    if (
      names.length !== 1 ||
      typeof name !== "string" ||
      !Object.hasOwn(KEYS, name) ||
      name === "union"
    ) {
      return this.#refuse(`${path}/type`, "unsupported");
    }
    return { name, nullable: Array.isArray(type) && type.length > 1 };
  }

  #checkKeys(value: Source, type: string, path: string, depth: number): void {
    for (const key of Object.keys(value)) {
      if (KEYS[type]?.includes(key) || KEPT_ANNOTATIONS.includes(key)) continue;
      if (DROPPED_ANNOTATIONS.has(key) || key.startsWith("x-")) {
        if (!key.startsWith("$") || key === "$comment" || depth === 0) continue;
      }
      const place = `${path}/${token(key)}`;
      if (REFERENCES.has(key)) this.#refuse(place, "recursive-schema-unsupported");
      else if (REFINEMENTS.has(key)) this.#refuse(place, "refinement-unsupported");
      else if (TRANSFORMATIONS.has(key)) this.#refuse(place, "transformation-unsupported");
      else if (OPEN_MEMBERS.has(key)) this.#refuse(place, "index-signature-unsupported");
      else this.#refuse(place, "unsupported-key");
    }
  }

  #build(type: string, value: Source, path: string, depth: number): JsonObject | undefined {
    switch (type) {
      case "object":
        return this.#object(value, path, depth);
      case "string":
        return this.#string(value, path);
      case "array":
        return this.#array(value, path, depth);
      case "union":
        return this.#union(value, path, depth);
      case "null":
        return this.#refuse(path, "null-literal-unsupported");
      case "boolean":
        return { type };
      default:
        return this.#number(type, value, path);
    }
  }

  #object(value: Source, path: string, depth: number): JsonObject | undefined {
    const { properties = {}, required = [], additionalProperties } = value;
    if (!isRecord(properties)) return this.#refuse(`${path}/properties`, "expected-object");
    if (isRecord(additionalProperties)) {
      return this.#refuse(`${path}/additionalProperties`, "index-signature-unsupported");
    }
    if (additionalProperties !== undefined && typeof additionalProperties !== "boolean") {
      return this.#refuse(`${path}/additionalProperties`, "expected-boolean");
    }
    if (!isStringList(required)) return this.#refuse(`${path}/required`, "expected-string-array");
    const names = Object.keys(properties);
    if (names.length > MAX_MEMBERS) return this.#refuse(`${path}/properties`, "exceeds-limit");
    const members: JsonObject = {};
    for (const name of names) {
      const member = this.#node(properties[name], `${path}/properties/${token(name)}`, depth + 1);
      if (member !== undefined) setMember(members, name, member);
    }
    for (const [index, name] of required.entries()) {
      if (!Object.hasOwn(properties, name)) this.#refuse(`${path}/required/${index}`, "missing");
    }
    const result: JsonObject = { type: "object", properties: members };
    if (required.length > 0) result["required"] = [...new Set(required)];
    return { ...result, additionalProperties: false };
  }

  #string(value: Source, path: string): JsonObject | undefined {
    const choices = Object.hasOwn(value, "const") ? [value["const"]] : value["enum"];
    if (choices !== undefined) {
      if (!Array.isArray(choices) || choices.length === 0) {
        return this.#refuse(`${path}/enum`, "expected-non-empty-array");
      }
      if (choices.includes(null)) return this.#refuse(`${path}/enum`, "null-literal-unsupported");
      if (!isStringList(choices))
        return this.#refuse(`${path}/enum`, "non-string-literal-unsupported");
      return { type: "string", enum: [...new Set(choices)] };
    }
    const result: JsonObject = { type: "string" };
    const { pattern, minLength, maxLength } = value;
    if (pattern !== undefined) {
      if (typeof pattern !== "string") return this.#refuse(`${path}/pattern`, "expected-string");
      if (!isPattern(pattern)) return this.#refuse(`${path}/pattern`, "invalid-regex");
      result["pattern"] = pattern;
    }
    for (const [name, length] of [
      ["minLength", minLength],
      ["maxLength", maxLength],
    ] as const) {
      if (length === undefined) continue;
      if (!Number.isSafeInteger(length) || (length as number) < 0) {
        return this.#refuse(`${path}/${name}`, "expected-non-negative-integer");
      }
      result[name] = length as number;
    }
    if (Number(minLength ?? 0) > Number(maxLength ?? Infinity)) {
      return this.#refuse(`${path}/minLength`, "exceeds-maxLength");
    }
    return result;
  }

  #number(type: string, value: Source, path: string): JsonObject | undefined {
    const result: JsonObject = { type };
    for (const name of ["minimum", "maximum"]) {
      const bound = value[name];
      if (bound === undefined) continue;
      if (typeof bound !== "number") return this.#refuse(`${path}/${name}`, "expected-number");
      result[name] = bound;
    }
    if (Number(value["minimum"] ?? -Infinity) > Number(value["maximum"] ?? Infinity)) {
      return this.#refuse(`${path}/minimum`, "exceeds-maximum");
    }
    return result;
  }

  #array(value: Source, path: string, depth: number): JsonObject | undefined {
    if (Object.hasOwn(value, "prefixItems") || Array.isArray(value["items"])) {
      return this.#refuse(path, "tuple-unsupported");
    }
    if (!Object.hasOwn(value, "items")) return this.#refuse(`${path}/items`, "array-item-missing");
    const items = this.#node(value["items"], `${path}/items`, depth + 1);
    return items === undefined ? undefined : { type: "array", items };
  }

  #union(value: Source, path: string, depth: number): JsonObject | undefined {
    const { anyOf } = value;
    if (!Array.isArray(anyOf)) return this.#refuse(`${path}/anyOf`, "expected-non-empty-array");
    if (anyOf.length > MAX_MEMBERS) return this.#refuse(`${path}/anyOf`, "exceeds-limit");
    const members: JsonObject[] = [];
    let isNullable = false;
    for (const [index, member] of anyOf.entries()) {
      if (isRecord(member) && member["type"] === "null") isNullable = true;
      else {
        const node = this.#node(member, `${path}/anyOf/${index}`, depth + 1);
        if (node !== undefined) members.push(node);
      }
    }
    if (members.length === 0) return this.#refuse(`${path}/anyOf`, "empty-union-unsupported");
    const literals = members.flatMap((member) =>
      isLiteral(member) ? (member["enum"] as string[]) : [],
    );
    const all: JsonObject[] =
      members.length > 1 && members.every(isLiteral)
        ? [{ type: "string", enum: [...new Set(literals)] }]
        : members;
    if (isNullable) all.push({ type: "null" });
    return all.length === 1 && all[0] !== undefined ? all[0] : { anyOf: all };
  }

  #words(value: Source, path: string): JsonObject {
    const words: JsonObject = {};
    for (const name of KEPT_ANNOTATIONS) {
      const text = value[name];
      if (text === undefined || !this.#keepsWords) continue;
      if (typeof text !== "string") this.#refuse(`${path}/${name}`, "expected-string");
      else if (text.length > MAX_TEXT) this.#refuse(`${path}/${name}`, "exceeds-limit");
      else words[name] = text;
    }
    return words;
  }

  #refuse(path: string, issue: SchemaIssueCode): undefined {
    if (this.issues.length < MAX_ISSUES) this.issues.push({ path, issue });
    return undefined;
  }
}

function isLiteral(node: JsonObject): boolean {
  return Object.keys(node).length === 2 && Array.isArray(node["enum"]);
}

function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function token(key: string): string {
  return key.slice(0, 64).replaceAll("~", "~0").replaceAll("/", "~1");
}
