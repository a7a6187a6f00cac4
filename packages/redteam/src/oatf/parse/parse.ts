import type { OatfLimits } from "../limits.js";
import { DEFAULT_OATF_LIMITS } from "../limits.js";
import type { OatfDocument } from "../model/document.js";
import type { ValidationError } from "../validate/finding.js";
import { yamlFindings } from "../validate/yaml-rules.js";
import { readYaml } from "../yaml/read.js";
import type { Path } from "../yaml/source.js";
import { attachSource, formatPath } from "../yaml/source.js";
import { DOCUMENT } from "./document-shape.js";
import type { ParseError } from "./parse-error.js";

/**
 * A document, or every problem found. Forbidden YAML (V-020) is reported with a text that fails too,
 * because it may be the cause.
 */
export type ParseResult =
  | { readonly ok: true; readonly document: OatfDocument }
  | {
      readonly ok: false;
      readonly errors: readonly ParseError[];
      readonly violations: readonly ValidationError[];
    };

/** Reads a text into a document without judging it: shapes are checked, rules are not. */
export function parse(text: string, limits: Partial<OatfLimits> = {}): ParseResult {
  const bounds = { ...DEFAULT_OATF_LIMITS, ...limits };
  const read = readYaml(text, bounds);
  if (read.value === undefined) {
    return { ok: false, errors: read.errors, violations: yamlFindings(read.violations) };
  }
  const { value, source } = read;
  const errors: ParseError[] = [];
  DOCUMENT(value, [], (message: string, path: Path) => {
    if (errors.length >= bounds.maxErrors) return;
    const at = formatPath(path);
    errors.push({
      kind: "type_mismatch",
      message: `${at}: ${message}`,
      path: at,
      ...source.positionOf(path),
    });
  });
  if (errors.length > 0) {
    return { ok: false, errors, violations: yamlFindings(source.violations) };
  }
  attachSource(value, source);
  return { ok: true, document: value };
}
