export { CountersignError, isCountersignError } from "./errors/error.js";
export type { ErrorCode, ErrorFacts } from "./errors/error.js";
export type { JsonObject, JsonValue } from "./json/value.js";
