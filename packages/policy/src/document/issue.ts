/** The kind of a problem in a policy document. */
export type PolicyIssueCode =
  | "syntax"
  | "limit"
  | "unknown-key"
  | "missing-key"
  | "wrong-type"
  | "bad-value"
  | "conflict"
  | "expression"
  | "extends";

/** One problem in a policy document, with its position. */
export type PolicyIssue = {
  readonly code: PolicyIssueCode;
  readonly message: string;
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1. */
  readonly column: number;
  /** JSON Pointer to the value. */
  readonly path: string;
  /** The offending key, for unknown keys. */
  readonly key?: string;
  /** The nearest valid name. */
  readonly suggestion?: string;
};

/** `file:line:column: message (did you mean "x"?)`, the form that terminals make clickable. */
export function formatIssue(issue: PolicyIssue): string {
  const hint = issue.suggestion === undefined ? "" : ` (did you mean "${issue.suggestion}"?)`;
  return `${issue.file}:${issue.line}:${issue.column}: ${issue.message}${hint}`;
}
