import type { JsonValue } from "@countersign/core";

/**
 * The part of JSON Schema 2020-12 that the policy grammar uses. `document/validate.ts` checks
 * everything here; a keyword outside this list would not be checked.
 */
export type JsonSchema = {
  readonly $schema?: string;
  readonly $id?: string;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly title?: string;
  readonly description?: string;
  readonly type?: "object" | "array" | "string" | "boolean" | "integer" | "number";
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly default?: JsonValue;
  /** Either a single rule or a list of them: the only union of the grammar. */
  readonly oneOf?: readonly [JsonSchema, JsonSchema];
};

/** A closed object: unknown keys are errors, never silently ignored. */
export function closed(
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return {
    type: "object",
    description,
    properties,
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** A list with a bound. */
export function list(description: string, items: JsonSchema, maxItems: number): JsonSchema {
  return { type: "array", description, items, maxItems };
}

/** A string from a fixed set. */
export function choice(description: string, values: readonly string[]): JsonSchema {
  return { type: "string", description, enum: values };
}

/** A boolean with its default. */
export function flag(description: string, value: boolean): JsonSchema {
  return { type: "boolean", description, default: value };
}

/** A name of bounded length. */
export function text(description: string, maxLength = 256): JsonSchema {
  return { type: "string", description, minLength: 1, maxLength };
}
