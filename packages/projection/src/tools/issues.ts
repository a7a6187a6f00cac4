/**
 * Why a schema cannot be declared: it uses an unsupported feature of JSON Schema, or uses one
 * incorrectly.
 */
export type SchemaIssueCode =
  | "root-object-required"
  | "expected-object"
  | "expected-boolean"
  | "expected-string"
  | "expected-string-array"
  | "expected-non-empty-array"
  | "expected-non-negative-integer"
  | "expected-number"
  | "exceeds-maximum"
  | "exceeds-maxLength"
  | "exceeds-limit"
  | "invalid-regex"
  | "missing"
  | "unsupported"
  | "unsupported-key"
  | "index-signature-unsupported"
  | "tuple-unsupported"
  | "array-item-missing"
  | "empty-union-unsupported"
  | "null-literal-unsupported"
  | "non-string-literal-unsupported"
  | "refinement-unsupported"
  | "recursive-schema-unsupported"
  | "transformation-unsupported"
  | "source-unconvertible";

/** Why a tool cannot be declared. */
export type ToolIssueCode =
  | SchemaIssueCode
  | "name-invalid"
  | "name-internal"
  | "name-duplicate"
  | "description-missing"
  | "exposed-unknown";

/** One issue and its path in the schema, as a JSON Pointer. */
export type SchemaIssue = { readonly path: string; readonly issue: SchemaIssueCode };

/** One issue, its tool and its path. */
export type ToolIssue = {
  readonly tool: string;
  readonly path: string;
  readonly issue: ToolIssueCode;
};
