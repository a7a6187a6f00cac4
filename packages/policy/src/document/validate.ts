import type { JsonObject, JsonValue } from "@countersign/core";
import { RESERVED_BLOCKS } from "../schema/policy-schema.js";
import type { JsonSchema } from "../schema/json-schema.js";
import type { PolicyIssue } from "./issue.js";
import type { PositionTable } from "./source.js";
import { childPointer, issueAt } from "./source.js";
import { suggestName } from "../base/suggest.js";

/**
 * Checks a value against the grammar and reports every problem with its position. Our own walker
 * instead of a general validator, because an error must name the key, the position and the nearest
 * valid name; a test compares it with ajv on the same schema.
 */
export function validateAgainstSchema(
  root: JsonSchema,
  value: JsonValue,
  positions: PositionTable,
  maxIssues: number,
): PolicyIssue[] {
  const issues: PolicyIssue[] = [];
  const walk = (schema: JsonSchema, value: JsonValue, pointer: string): void => {
    if (issues.length >= maxIssues) return;
    const resolved = resolve(root, schema);
    const report = (code: "wrong-type" | "bad-value", message: string): void => {
      issues.push(issueAt(positions, pointer, code, message));
    };
    if (resolved.oneOf !== undefined) {
      walk(resolved.oneOf[Array.isArray(value) ? 1 : 0], value, pointer);
      return;
    }
    const kind = kindOf(value);
    const wanted = resolved.type;
    if (wanted !== undefined && !fitsType(wanted, kind, value)) {
      report("wrong-type", `${nameOf(pointer)} must be ${TYPE_NAMES[wanted]}, found ${kind}`);
      return;
    }
    if (typeof value === "string") checkString(resolved, value, pointer, positions, issues);
    else if (typeof value === "number") checkNumber(resolved, value, pointer, report);
    else if (Array.isArray(value)) {
      if (resolved.minItems !== undefined && value.length < resolved.minItems) {
        report("bad-value", `${nameOf(pointer)} needs at least ${resolved.minItems} entries`);
      }
      if (resolved.maxItems !== undefined && value.length > resolved.maxItems) {
        report("bad-value", `${nameOf(pointer)} may have at most ${resolved.maxItems} entries`);
        return;
      }
      const { items } = resolved;
      if (items !== undefined) {
        value.forEach((item, index) => walk(items, item, childPointer(pointer, index)));
      }
    } else if (value !== null && typeof value === "object") {
      checkObject(resolved, value, pointer, walk, positions, issues);
    }
  };
  walk(root, value, "");
  return issues;
}

function resolve(root: JsonSchema, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.slice("#/$defs/".length);
  const target = root.$defs?.[name];
  if (target === undefined) throw new TypeError(`the schema has no definition ${name}`);
  return target;
}

function checkString(
  schema: JsonSchema,
  value: string,
  pointer: string,
  positions: PositionTable,
  issues: PolicyIssue[],
): void {
  const add = (message: string, suggestion?: string): void => {
    issues.push(
      issueAt(
        positions,
        pointer,
        "bad-value",
        message,
        suggestion === undefined ? {} : { suggestion },
      ),
    );
  };
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    add(
      `${nameOf(pointer)} must be one of ${schema.enum.join(", ")}`,
      suggestName(value, schema.enum),
    );
  }
  if (schema.minLength !== undefined && value.length < schema.minLength) {
    add(`${nameOf(pointer)} must not be empty`);
  }
  if (schema.maxLength !== undefined && value.length > schema.maxLength) {
    add(`${nameOf(pointer)} may have at most ${schema.maxLength} characters`);
  } else if (schema.pattern !== undefined && !patternOf(schema.pattern).test(value)) {
    add(`${nameOf(pointer)} does not have the form ${schema.description ?? schema.pattern}`);
  }
}

function checkNumber(
  schema: JsonSchema,
  value: number,
  pointer: string,
  report: (code: "bad-value", message: string) => void,
): void {
  if (schema.minimum !== undefined && value < schema.minimum) {
    report("bad-value", `${nameOf(pointer)} must be at least ${schema.minimum}`);
  }
  if (schema.maximum !== undefined && value > schema.maximum) {
    report("bad-value", `${nameOf(pointer)} must be at most ${schema.maximum}`);
  }
}

function checkObject(
  schema: JsonSchema,
  value: JsonObject,
  pointer: string,
  walk: (schema: JsonSchema, value: JsonValue, pointer: string) => void,
  positions: PositionTable,
  issues: PolicyIssue[],
): void {
  const properties = schema.properties ?? {};
  const keys = Object.keys(value);
  if (schema.maxProperties !== undefined && keys.length > schema.maxProperties) {
    issues.push(
      issueAt(
        positions,
        pointer,
        "bad-value",
        `${nameOf(pointer)} may have at most ${schema.maxProperties} keys`,
      ),
    );
    return;
  }
  for (const key of keys) {
    const child = value[key];
    if (child === undefined) continue;
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (known !== undefined) walk(known, child, childPointer(pointer, key));
    else if (typeof schema.additionalProperties === "object") {
      walk(schema.additionalProperties, child, childPointer(pointer, key));
    } else if (schema.additionalProperties === false) {
      issues.push(unknownKey(key, properties, pointer, positions));
    }
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) {
      issues.push(
        issueAt(positions, pointer, "missing-key", `${nameOf(pointer)} needs the key "${key}"`),
      );
    }
  }
}

function unknownKey(
  key: string,
  properties: Readonly<Record<string, JsonSchema>>,
  pointer: string,
  positions: PositionTable,
): PolicyIssue {
  const shown = key.length > 80 ? `${key.slice(0, 80)}…` : key;
  if (RESERVED_BLOCKS.has(key)) {
    return issueAt(
      positions,
      pointer,
      "unknown-key",
      `"${shown}" is reserved for a later version and not understood yet`,
      { key },
    );
  }
  const suggestion = suggestName(key, Object.keys(properties));
  return issueAt(
    positions,
    pointer,
    "unknown-key",
    `unknown key "${shown}" in ${nameOf(pointer)}`,
    {
      key,
      ...(suggestion === undefined ? {} : { suggestion }),
    },
  );
}

type Kind = "null" | "a list" | "a mapping" | "a string" | "a number" | "a boolean";

function kindOf(value: JsonValue): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "string") return "a string";
  return typeof value === "number" ? "a number" : "a boolean";
}

const TYPE_NAMES = {
  object: "a mapping",
  array: "a list",
  string: "a string",
  boolean: "a boolean",
  integer: "a whole number",
  number: "a number",
} as const satisfies Record<NonNullable<JsonSchema["type"]>, string>;

function fitsType(wanted: NonNullable<JsonSchema["type"]>, kind: Kind, value: JsonValue): boolean {
  return wanted === "integer" ? Number.isSafeInteger(value) : TYPE_NAMES[wanted] === kind;
}

function nameOf(pointer: string): string {
  return pointer === "" ? "the document" : pointer.slice(1).replaceAll("/", ".");
}

const compiled = new Map<string, RegExp>();

// Patterns of our own schema are linear by inspection; policies' patterns use RE2.
function patternOf(source: string): RegExp {
  let expression = compiled.get(source);
  if (expression === undefined) {
    expression = new RegExp(source, "u");
    compiled.set(source, expression);
  }
  return expression;
}
