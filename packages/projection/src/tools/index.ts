export { declareTools } from "./declare.js";
export type { AgentSchema, DeclaredTools, ToolDefinition } from "./declare.js";
export type { SchemaIssue, SchemaIssueCode, ToolIssue, ToolIssueCode } from "./issues.js";
export { readToolSchema } from "./schema.js";
export type { ReadSchema } from "./schema.js";
export { fingerprintSchema } from "./structure.js";
