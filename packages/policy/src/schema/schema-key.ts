import type { JsonObject, JsonValue } from "@countersign/core";
import type { JsonSchema } from "./json-schema.js";

/** The grammar of one key, and a valid value for it. */
export type SchemaKey = {
  readonly description: string;
  readonly choices?: readonly string[];
  readonly default?: JsonValue;
  /** The key with its parents, as in a document. */
  readonly example: JsonObject;
};

/** Values that allow something, if a key has them. */
const OPEN = ["allow", "open", "observe", "accept", "any", "display", "auto"];
/** Texts for keys with a pattern. */
const TEXTS = [
  "NAME",
  "0.1.0",
  "images.example.org",
  "90d",
  `sha256:${"0".repeat(64)}`,
  "modal:ID",
  "text_stream",
  "ui:submit:modal",
  "/PATH",
];

/** Values for members whose grammar is more than a pattern. */
const BY_NAME: Readonly<Record<string, string>> = { when: 'event.classification == "submit"' };

/**
 * Finds a key by its dotted path (`ag_ui_content.images`), through lists and maps; undefined for an
 * unknown path.
 */
export function findSchemaKey(root: JsonSchema, path: string): SchemaKey | undefined {
  const names = path.split(".");
  const trail: JsonSchema[] = [];
  let schema = resolved(root, root);
  for (const name of names) {
    const child = childOf(root, schema, name);
    if (child === undefined) return undefined;
    trail.push(schema);
    schema = resolved(root, child);
  }
  const { description, default: otherwise } = schema;
  if (description === undefined) return undefined;
  let example = BY_NAME[names.at(-1) ?? ""] ?? exampleOf(root, schema);
  for (let at = names.length - 1; at >= 0; at -= 1) {
    example = around(root, trail[at] as JsonSchema, names[at] as string, example);
  }
  return {
    description,
    ...(schema.enum === undefined ? {} : { choices: schema.enum }),
    ...(otherwise === undefined ? {} : { default: otherwise }),
    example: example as JsonObject,
  };
}

/** Every dotted path of a grammar, as deep as it names keys. */
export function schemaKeys(root: JsonSchema, schema = root, before = ""): string[] {
  const { properties = {} } = objectOf(root, schema) ?? {};
  return Object.entries(properties).flatMap(([name, child]) => {
    const path = before === "" ? name : `${before}.${name}`;
    return [path, ...schemaKeys(root, resolved(root, child), path)];
  });
}

function resolved(root: JsonSchema, schema: JsonSchema): JsonSchema {
  const { $ref } = schema;
  const target = $ref === undefined ? undefined : root.$defs?.[$ref.slice("#/$defs/".length)];
  return target === undefined ? schema : resolved(root, target);
}

/** The object of a schema: itself, an entry of its list, or the first of its two forms. */
function objectOf(root: JsonSchema, schema: JsonSchema): JsonSchema | undefined {
  const own = resolved(root, schema);
  if (own.properties !== undefined || typeof own.additionalProperties === "object") return own;
  if (own.items !== undefined) return objectOf(root, own.items);
  return own.oneOf === undefined ? undefined : objectOf(root, own.oneOf[0]);
}

function childOf(root: JsonSchema, schema: JsonSchema, name: string): JsonSchema | undefined {
  const { properties = {}, additionalProperties: others } = objectOf(root, schema) ?? {};
  if (Object.hasOwn(properties, name)) return properties[name];
  return typeof others === "object" && name !== "" ? others : undefined;
}

/** A member with the required members of its object. */
function around(root: JsonSchema, schema: JsonSchema, name: string, value: JsonValue): JsonValue {
  const object = objectOf(root, schema) ?? {};
  const needed = { ...(requiredOf(root, object) as JsonObject), [name]: value };
  return resolved(root, schema).items === undefined ? needed : [needed];
}

function requiredOf(root: JsonSchema, { required = [], properties = {} }: JsonSchema): JsonObject {
  return Object.fromEntries(
    required.map(
      (name) => [name, BY_NAME[name] ?? exampleOf(root, properties[name] ?? {})] as const,
    ),
  );
}

function exampleOf(root: JsonSchema, given: JsonSchema): JsonValue {
  const schema = resolved(root, given);
  const { type, enum: choices, minimum, maximum, default: otherwise, pattern, items } = schema;
  if (schema.oneOf !== undefined) return exampleOf(root, schema.oneOf[0]);
  if (choices !== undefined) return OPEN.find((one) => choices.includes(one)) ?? choices[0] ?? "";
  if (type === "boolean") return otherwise !== true;
  if (type === "integer" || type === "number") {
    return Math.min(typeof otherwise === "number" ? otherwise * 2 : (minimum ?? 1), maximum ?? 1e9);
  }
  if (type === "array") return items === undefined ? [] : [exampleOf(root, items)];
  if (type === "object") {
    const needed = requiredOf(root, schema);
    const hasMode = Object.hasOwn(schema.properties ?? {}, "mode");
    if (Object.keys(needed).length > 0 || !hasMode) return needed;
    return { mode: exampleOf(root, schema.properties?.["mode"] ?? {}) };
  }
  const fits = new RegExp(pattern ?? "", "u");
  return TEXTS.find((one) => fits.test(one)) ?? "0".repeat(64);
}
