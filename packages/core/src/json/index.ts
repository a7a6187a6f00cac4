export { canonicalJson } from "./canonical.js";
export { parseJson } from "./parse.js";
export type { JsonLimits } from "./parse.js";
export type { JsonObject, JsonValue } from "./value.js";
