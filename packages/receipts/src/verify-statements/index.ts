export { verifyStatement } from "./statement.js";
export type { StatementOptions } from "./statement.js";
export { verifyStatements } from "./statements.js";
export type { StatementsOptions } from "./statements.js";
