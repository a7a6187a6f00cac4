import { formatPath } from "../yaml/source.js";
import type { YamlViolation } from "../yaml/source.js";
import type { ValidationError } from "./finding.js";
import { RULES } from "./rules.js";

/** V-020 for each piece of forbidden YAML. */
export function yamlFindings(violations: readonly YamlViolation[]): ValidationError[] {
  return violations.map(({ path, message, line, column }) => ({
    rule: "V-020",
    spec_ref: RULES["V-020"],
    message,
    path: formatPath(path),
    line,
    column,
  }));
}
