export { enforceCapabilities } from "./capabilities.js";
export { enforceEvent, enforceInput } from "./enforce.js";
export type { EnforcedEvent, EnforcedInput } from "./compact.js";
export type { EnforceErrorCode } from "./errors.js";
export type { JsonKind } from "./kind.js";
export { MAX_NAME_LENGTH, MAX_NOTES } from "./note.js";
export type { EnforceNote, Removal } from "./note.js";
