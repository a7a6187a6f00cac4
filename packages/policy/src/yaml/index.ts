/** Strict YAML with positions, for other documents of the product with the same checks. */
export { formatIssue } from "../document/issue.js";
export type { PolicyIssue as DocumentIssue } from "../document/issue.js";
export { DEFAULT_POLICY_LIMITS as DEFAULT_DOCUMENT_LIMITS } from "../document/limits.js";
export { linesOfRules, setPolicyMode, WHOLE_POLICY } from "../document/edit-mode.js";
export { readYaml } from "../document/read-yaml.js";
export { issueAt } from "../document/source.js";
export { validateAgainstSchema } from "../document/validate.js";
export { choice, closed, flag, list, text } from "../schema/json-schema.js";
export { findSchemaKey, schemaKeys } from "../schema/schema-key.js";
export type { SchemaKey } from "../schema/schema-key.js";
export type { JsonSchema } from "../schema/json-schema.js";
