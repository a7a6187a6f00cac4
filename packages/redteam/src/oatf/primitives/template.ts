import { CountersignError, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { plainText } from "../json/values.js";
import { MAX_INTERPOLATED_LENGTH } from "../limits.js";
import { resolveSimplePath } from "./path.js";
import { scanTemplate } from "./template-scan.js";

/** The sources of a template's values. */
export type TemplateContext = {
  /** Values by name: local names and names qualified as `actor.name`. */
  readonly extractors: ReadonlyMap<string, string>;
  /** The last request, for `{{request.path}}`. */
  readonly request?: JsonValue;
  /** The last response, for `{{response.path}}`. */
  readonly response?: JsonValue;
};

/** A reference that found no value and became the empty string. */
export type TemplateWarning = {
  readonly severity: "warning";
  readonly code: "W-004";
  readonly message: string;
};

const SIDES = ["request", "response"] as const;

/** How a value is filled where a runner wants more than OATF asks for. */
export type FillOptions = {
  /** The names of members are templates too. */
  readonly names?: boolean;
  /** A name whose value is empty or null has no value. */
  readonly emptyIsMissing?: boolean;
};

function lookUp(name: string, context: TemplateContext, options: FillOptions): string | undefined {
  const found = find(name, context);
  const isEmpty = found !== undefined && (found.trim() === "" || found === "null");
  return isEmpty && options.emptyIsMissing === true ? undefined : found;
}

function find(name: string, context: TemplateContext): string | undefined {
  const extracted = context.extractors.get(name);
  if (extracted !== undefined) return extracted;
  for (const side of SIDES) {
    const root = context[side];
    if (name.startsWith(`${side}.`) && root !== undefined) {
      const found = resolveSimplePath(name.slice(side.length + 1), root);
      if (found !== undefined) return plainText(found);
    }
  }
  return undefined;
}

function afford(length: number): void {
  if (length > MAX_INTERPOLATED_LENGTH) {
    throw new CountersignError("ERR_OATF_LIMIT", "templates expand to more than is allowed", {
      limit: "interpolatedLength",
      allowed: MAX_INTERPOLATED_LENGTH,
    });
  }
}

/**
 * Replaces `{{name}}`, `{{actor.name}}`, `{{request.path}}` and `{{response.path}}`; `\{{` yields a literal
 * `{{`. What was put in is never scanned again, so a value that an agent chose cannot name another one.
 *
 * @throws CountersignError ERR_OATF_LIMIT when the text grows beyond the limit
 */
export function interpolateTemplate(
  text: string,
  context: TemplateContext,
  options: FillOptions = {},
): { readonly text: string; readonly warnings: readonly TemplateWarning[] } {
  if (!text.includes("{{")) return { text, warnings: [] };
  const warnings: TemplateWarning[] = [];
  let result = "";
  for (const part of scanTemplate(text).parts) {
    if (part.kind === "text") result += part.text;
    else {
      const value = lookUp(part.name, context, options);
      if (value === undefined) {
        const message = `{{${part.name.slice(0, 64)}}} has no value here`;
        warnings.push({ severity: "warning", code: "W-004", message });
      } else result += value;
    }
    afford(result.length);
  }
  return { text: result, warnings };
}

/**
 * {@link interpolateTemplate} for every string inside a value; other scalars stay as they are, and so do
 * names unless the options say otherwise. Names that become the same are told, because one of the members is lost.
 *
 * @throws CountersignError ERR_OATF_LIMIT when the strings together grow beyond the limit
 */
export function interpolateValue(
  value: JsonValue,
  context: TemplateContext,
  options: FillOptions = {},
): { readonly value: JsonValue; readonly warnings: readonly TemplateWarning[] } {
  const warnings: TemplateWarning[] = [];
  let length = 0;
  const fill = (text: string): string => {
    const replaced = interpolateTemplate(text, context, options);
    warnings.push(...replaced.warnings);
    length += replaced.text.length;
    afford(length);
    return replaced.text;
  };
  const visit = (node: JsonValue): JsonValue => {
    if (typeof node === "string") return fill(node);
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== "object" || node === null) return node;
    const copy: JsonObject = {};
    for (const [key, child] of Object.entries(node)) {
      const name = options.names === true ? fill(key) : key;
      if (Object.hasOwn(copy, name)) {
        const message = `two members are named ${name.slice(0, 64)} once ${key.slice(0, 64)} is filled`;
        warnings.push({ severity: "warning", code: "W-004", message });
      }
      setMember(copy, name, visit(child));
    }
    return copy;
  };
  return { value: visit(value), warnings };
}
