import type { Field, Shape, Union, ValueSpec } from "../index.js";
import { RUN_AGENT_INPUT } from "../model/shapes.js";
import { EVENT_SHAPES } from "../model/table.js";

const HEADER = `// Emitted from the event table by src/testing/emit-clean.ts; edit the table, not this file.
// Write it again with: COUNTERSIGN_EMIT=1 npx vitest run packages/wire/src/enforce/clean.test.ts
//
// Each predicate is true when a value is valid and holds nothing to remove; it allocates nothing. Emitted
// rather than compiled to closures at start: each function has property accesses of its own, which is three
// times faster on a mixed stream, and \`new Function\` is forbidden under a content security policy.
import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { isPointer } from "../pointer.js";
`;

const COMMON = ["timestamp", "rawEvent", "metadata", "subagentRunId"];

/** Writes the predicates of `enforce/generated/clean.ts`. */
class Emitter {
  readonly #functions = new Map<string, string[]>();
  readonly #names = new Map<string, string>();

  /** The condition under which `value` is clean. */
  #condition(spec: ValueSpec, value: string): string {
    switch (spec.kind) {
      case "string":
      case "boolean":
        return `typeof ${value} === "${spec.kind}"`;
      case "integer": {
        const safe = `Number.isSafeInteger(${value})`;
        return spec.minimum === Number.MIN_SAFE_INTEGER
          ? safe
          : `${safe} && (${value} as number) >= ${spec.minimum}`;
      }
      case "enum":
        return spec.values.map((text) => `${value} === "${text}"`).join(" || ");
      case "pointer":
        return `typeof ${value} === "string" && isPointer(${value})`;
      case "object":
        return `isJsonObject(${value})`;
      case "json":
        return `${value} !== null`;
      case "shape":
        return `isJsonObject(${value}) && ${this.#shape(spec)}(${value})`;
      case "union":
        return `isJsonObject(${value}) && ${this.#union(spec)}(${value})`;
      case "stringOrList":
        return `typeof ${value} === "string" || ${this.#list(spec.element, 0)}(${value})`;
      default:
        return `${this.#list(spec.element, spec.minimum)}(${value})`;
    }
  }

  #define(name: string, make: () => string[]): string {
    if (!this.#functions.has(name)) {
      // Reserve the name first: inner functions are emitted while this one is made.
      this.#functions.set(name, []);
      this.#functions.set(name, make());
    }
    return name;
  }

  #list(element: ValueSpec, minimum: number): string {
    const named =
      element.kind === "shape" || element.kind === "union" ? element.name : element.kind;
    const name = `isClean_${minimum > 0 ? `${minimum}OrMore` : "ListOf"}_${named}`;
    return this.#define(name, () => {
      const condition = this.#condition(element, "entry");
      const short = minimum > 0 ? ` || value.length < ${minimum}` : "";
      return [
        `function ${name}(value: JsonValue | undefined): boolean {`,
        `  if (!Array.isArray(value)${short}) return false;`,
        "  for (let index = 0; index < value.length; index++) {",
        "    const entry = value[index] as JsonValue;",
        `    if (!(${condition})) return false;`,
        "  }",
        "  return true;",
        "}",
      ];
    });
  }

  #union(union: Union): string {
    const name = `isClean_${union.name}`;
    return this.#define(name, () => [
      `function ${name}(value: JsonObject): boolean {`,
      `  switch (value["${union.tag}"]) {`,
      ...Object.entries(union.members).map(
        ([tag, member]) => `    case "${tag}": return ${this.#shape(member, union.tag)}(value);`,
      ),
      "    default: return false;",
      "  }",
      "}",
    ]);
  }

  /** Shapes with the same fields share one predicate, named after the first. */
  #shape(shape: Shape, tag?: string): string {
    const content = JSON.stringify([shape.fields, shape.open, tag]);
    const name = this.#names.get(content) ?? `isClean_${shape.name}`;
    this.#names.set(content, name);
    return this.#define(name, () => this.#object(name, shape, tag));
  }

  #object(name: string, shape: Shape, tag: string | undefined): string[] {
    const common = COMMON.filter((key) => tag === "type" && shape.fields[key]?.required === false);
    const delegated = common.includes("timestamp") ? common : [];
    // Required fields are in every object, so they are compared first.
    const fields = Object.entries(shape.fields)
      .filter(([key]) => !delegated.includes(key))
      .sort(([, left], [, right]) => Number(right.required) - Number(left.required));
    const count = shape.required.length;
    const otherwise = shape.open
      ? "break;"
      : delegated.length === 0
        ? "return false;"
        : `if (!${this.#common(shape, delegated)}(key, value)) return false;`;
    return [
      `function ${name}(value: JsonObject): boolean {`,
      ...(count > 0 ? ["  let required = 0;"] : []),
      "  for (const key in value) {",
      "    switch (key) {",
      ...(tag === undefined ? [] : [`      case "${tag}": break;`]),
      ...fields.map(([key, field]) => `      case "${key}": ${this.#case(key, field)}break;`),
      `      default: ${otherwise}`,
      "    }",
      "  }",
      count > 0 ? `  return required === ${count};` : "  return true;",
      "}",
    ];
  }

  /** The optional fields that all events have, in one place instead of in every predicate. */
  #common(shape: Shape, keys: readonly string[]): string {
    const name = `isCleanCommonField_${keys.length}`;
    return this.#define(name, () => [
      `function ${name}(key: string, value: JsonObject): boolean {`,
      "  switch (key) {",
      ...keys.map((key) => {
        const { spec } = shape.fields[key] as Field;
        return `    case "${key}": return ${this.#condition(spec, `value["${key}"]`)};`;
      }),
      "    default: return false;",
      "  }",
      "}",
    ]);
  }

  #case(key: string, field: Field): string {
    const count = field.required ? "required++; " : "";
    if (field.whenNull === "data") return count;
    const alone = field.beside === undefined ? "" : `!Object.hasOwn(value, "${field.beside}") || `;
    return `if (${alone}!(${this.#condition(field.spec, `value["${key}"]`)})) return false; ${count}`;
  }

  /** The whole file. */
  file(): string {
    const byLength = new Map<number, string[]>();
    for (const [type, event] of EVENT_SHAPES) {
      const line = `      if (type === "${type}") return ${this.#shape(event, "type")}(value);`;
      byLength.set(type.length, [...(byLength.get(type.length) ?? []), line]);
    }
    const input = this.#shape(RUN_AGENT_INPUT);
    const functions = [...this.#functions.entries()].map(([name, lines]) =>
      name === input
        ? `/** Whether a RunAgentInput is valid and holds nothing to remove. */\nexport ${lines.join("\n")}`
        : lines.join("\n"),
    );
    const dispatch = [
      "/** Whether an event is valid and holds nothing to remove. */",
      "export function isCleanEvent(value: JsonObject): boolean {",
      '  const type = value["type"];',
      '  if (typeof type !== "string") return false;',
      "  // Strings fresh from a parser carry no hash yet: length first is cheaper than a map.",
      "  switch (type.length) {",
      ...[...byLength.entries()]
        .sort(([left], [right]) => left - right)
        .flatMap(([length, lines]) => [`    case ${length}:`, ...lines, "      return false;"]),
      "    default:",
      "      return false;",
      "  }",
      "}",
    ];
    return `${[HEADER, ...functions, dispatch.join("\n")].join("\n")}\n`;
  }
}

/** The text of `enforce/generated/clean.ts`. */
export function emitClean(): string {
  return new Emitter().file();
}
