import type { JsonObject } from "@countersign/core";
import type { Tool } from "@countersign/wire";
import { isRecord } from "../safe/value.js";
import type { SchemaIssueCode, ToolIssue, ToolIssueCode } from "./issues.js";
import { readToolSchema } from "./schema.js";

/**
 * A tool as the runtime defines it. A declaration uses only these three members: execution,
 * admission, quota and materials are not for clients, and clients cannot grant them.
 */
export type ToolDefinition = {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema, or a Standard Schema that can convert itself to one. */
  readonly parameters?: unknown;
};

/** The AG-UI part of an agent's schema. */
export type AgentSchema = {
  readonly projections: {
    readonly agUi: {
      readonly tools: readonly ToolDefinition[] | Readonly<Record<string, ToolDefinition>>;
      /** The tools to declare, by name. Default: all that are not internal. */
      readonly expose?: readonly string[];
    };
  };
};

/** Declarations sorted by name, and the refused tools. */
export type DeclaredTools = { readonly tools: Tool[]; readonly issues: ToolIssue[] };

const NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const MAX_DESCRIPTION = 4096;
const EMPTY: JsonObject = { type: "object", properties: {}, additionalProperties: false };

/** Creates AG-UI tool declarations; a tool with an issue is not declared. */
export function declareTools(agent: AgentSchema): DeclaredTools {
  const { tools, expose } = agent.projections.agUi;
  const definitions = (Array.isArray(tools) ? tools : Object.values(tools)) as ToolDefinition[];
  const issues: ToolIssue[] = [];
  const counts = new Map<string, number>();
  for (const { name } of definitions) counts.set(name, (counts.get(name) ?? 0) + 1);
  const exposed = expose === undefined ? undefined : new Set(expose);
  for (const name of exposed ?? []) {
    if (!counts.has(name)) issues.push({ tool: name, path: "", issue: "exposed-unknown" });
  }
  const declared: Tool[] = [];
  for (const definition of definitions) {
    // A leading underscore marks an internal tool of the runtime.
    const isInternal = typeof definition.name === "string" && definition.name.startsWith("_");
    if (exposed === undefined ? isInternal : !exposed.has(definition.name)) continue;
    const found = declareTool(definition, counts);
    if ("issues" in found) issues.push(...found.issues);
    else declared.push(found.tool);
  }
  declared.sort((left, right) => (left.name < right.name ? -1 : 1));
  return { tools: declared, issues };
}

function declareTool(
  definition: ToolDefinition,
  counts: ReadonlyMap<string, number>,
): { tool: Tool } | { issues: ToolIssue[] } {
  const { name, description } = definition;
  const refuse = (path: string, issue: ToolIssueCode) => ({
    issues: [{ tool: String(name).slice(0, 64), path, issue }],
  });
  if (typeof name !== "string") return refuse("/name", "name-invalid");
  if (name.startsWith("_")) return refuse("/name", "name-internal");
  if (!NAME.test(name)) return refuse("/name", "name-invalid");
  if ((counts.get(name) ?? 0) > 1) return refuse("/name", "name-duplicate");
  if (typeof description !== "string" || description === "") {
    return refuse("/description", "description-missing");
  }
  if (description.length > MAX_DESCRIPTION) return refuse("/description", "exceeds-limit");
  if (definition.parameters === undefined) {
    return { tool: { name, description, parameters: structuredClone(EMPTY) } };
  }
  const source = sourceOf(definition.parameters);
  if ("issue" in source) return refuse("/parameters", source.issue);
  const { schema, issues } = readToolSchema(source.schema);
  if (schema !== undefined) return { tool: { name, description, parameters: schema } };
  return {
    issues: issues.map(({ path, issue }) => ({ tool: name, path: `/parameters${path}`, issue })),
  };
}

/** A Standard Schema converts itself to JSON Schema; any other object is treated as JSON Schema. */
function sourceOf(parameters: unknown): { schema: unknown } | { issue: SchemaIssueCode } {
  const isObject = typeof parameters === "object" || typeof parameters === "function";
  if (!isObject || parameters === null) return { issue: "expected-object" };
  const standard = (parameters as Record<string, unknown>)["~standard"];
  if (standard === undefined) return { schema: parameters };
  const converter = isRecord(standard) ? standard["jsonSchema"] : undefined;
  const convert = isRecord(converter) ? converter["input"] : undefined;
  if (typeof convert !== "function") return { issue: "source-unconvertible" };
  try {
    const schema: unknown = Reflect.apply(convert, converter, [{ target: "draft-2020-12" }]);
    return { schema };
  } catch {
    return { issue: "source-unconvertible" };
  }
}
