import { CountersignError } from "@countersign/core";
import type { OatfLimits } from "./limits.js";
import type { NormalizedDocument } from "./model/normalized.js";
import { normalize } from "./normalize/normalize.js";
import type { ParseError } from "./parse/parse-error.js";
import { parse } from "./parse/parse.js";
import type { Diagnostic, ValidationError } from "./validate/finding.js";
import { validate } from "./validate/validate.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A text that is not an OATF document: broken YAML, a wrong type or an unknown field. */
    ERR_OATF_PARSE: { errors: readonly ParseError[] };
    /** A document that breaks rules of the format. */
    ERR_OATF_INVALID: { errors: readonly ValidationError[] };
    /** A document or a value built from one is larger than we are willing to handle. */
    ERR_OATF_LIMIT: { limit: string; allowed: number };
    /** A text that is not a duration. */
    ERR_OATF_DURATION: { length: number };
    /** An evaluation was asked of a document that has no indicators. */
    ERR_OATF_NO_INDICATORS: { attack: string };
  }
}

/** A document ready to run, or the errors of the first stage that failed. */
export type LoadResult =
  | {
      readonly ok: true;
      readonly document: NormalizedDocument;
      readonly warnings: readonly Diagnostic[];
    }
  | {
      readonly ok: false;
      readonly stage: "parse";
      readonly errors: readonly ParseError[];
      readonly violations: readonly ValidationError[];
    }
  | {
      readonly ok: false;
      readonly stage: "validate";
      readonly errors: readonly ValidationError[];
      readonly warnings: readonly Diagnostic[];
    };

/** Parses, validates and normalises a text. */
export function load(text: string, limits: Partial<OatfLimits> = {}): LoadResult {
  const parsed = parse(text, limits);
  if (!parsed.ok) return { ...parsed, stage: "parse" };
  const { errors, warnings } = validate(parsed.document);
  if (errors.length > 0) return { ok: false, stage: "validate", errors, warnings };
  return { ok: true, document: normalize(parsed.document), warnings };
}

/**
 * {@link load} for callers that want a document or a reason.
 *
 * @throws CountersignError ERR_OATF_LIMIT, ERR_OATF_PARSE or ERR_OATF_INVALID
 */
export function loadDocument(
  text: string,
  limits: Partial<OatfLimits> = {},
): { readonly document: NormalizedDocument; readonly warnings: readonly Diagnostic[] } {
  const loaded = load(text, limits);
  if (loaded.ok) return loaded;
  if (loaded.stage === "validate") {
    throw new CountersignError("ERR_OATF_INVALID", summary(loaded.errors), {
      errors: loaded.errors,
    });
  }
  const bound = loaded.errors.find((error) => error.limit !== undefined)?.limit;
  if (bound !== undefined) {
    throw new CountersignError("ERR_OATF_LIMIT", summary(loaded.errors), {
      limit: bound.name,
      allowed: bound.allowed,
    });
  }
  throw new CountersignError("ERR_OATF_PARSE", summary(loaded.errors), { errors: loaded.errors });
}

type Finding = ParseError | ValidationError;

function summary(errors: readonly Finding[]): string {
  const [first] = errors;
  const place = first?.line === undefined ? "" : `${first.line}:${first.column ?? 1}: `;
  const code = first !== undefined && "rule" in first ? `${first.rule} ${first.path} ` : "";
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return `${place}${code}${first?.message ?? "not a document"}${more}`;
}
