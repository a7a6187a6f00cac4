import { CLASSIFICATIONS } from "@countersign/core";
import type { Classification, CountersignError } from "@countersign/core";
import { malformed } from "../reading/read.js";
import { MAX_SCOPE_LENGTH, MAX_SCOPES } from "../model/limits.js";

/** A parsed `ui:<classification>:<component_type>[:<component_id>]`. */
export type Scope = {
  readonly classification: Classification | "*";
  /** `*` also matches events without a target. */
  readonly componentType: string;
  /**
   * Absent: every id, and events without one; so `ui:alert:toast` and `ui:alert:toast:*` are equal.
   */
  readonly componentId?: string;
};

const CLASSES: ReadonlySet<string> = new Set(CLASSIFICATIONS);
const UNSAFE = /[\p{Cc}\s]/u;

/** Whether a string is a class. */
export function isClassification(value: unknown): value is Classification {
  return typeof value === "string" && CLASSES.has(value);
}

/**
 * Parses a scope; only the first three colons separate, a component id may contain more.
 *
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED`
 */
export function parseScope(text: string): Scope {
  if (text.length > MAX_SCOPE_LENGTH || UNSAFE.test(text)) throw notAScope();
  const [prefix, classification, componentType, ...rest] = text.split(":");
  if (prefix !== "ui" || componentType === undefined || componentType === "") {
    throw notAScope();
  }
  if (classification !== "*" && !isClassification(classification)) throw notAScope();
  if (rest.length === 0) return { classification, componentType };
  const componentId = rest.join(":");
  if (componentId === "") throw notAScope();
  return componentId === "*"
    ? { classification, componentType }
    : { classification, componentType, componentId };
}

/** The text of a scope, without a `*` id. */
export function formatScope(scope: Scope): string {
  const { classification, componentType, componentId } = scope;
  const short = `ui:${classification}:${componentType}`;
  return componentId === undefined ? short : `${short}:${componentId}`;
}

/**
 * The canonical order of a set of scopes: by code units, without duplicates. Texts stay unchanged,
 * because a policy may require a scope by its exact text.
 *
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED` on a scope outside the grammar or on too many
 */
export function canonicalScopes(scopes: readonly string[]): string[] {
  const unique = new Set(scopes);
  if (unique.size > MAX_SCOPES) throw malformed("scope", `at most ${MAX_SCOPES} of them`);
  for (const scope of unique) parseScope(scope);
  return [...unique].sort();
}

function notAScope(): CountersignError {
  return malformed(
    "scope",
    `ui:<classification>:<component_type>[:<component_id>], ${MAX_SCOPE_LENGTH} characters at most`,
  );
}
