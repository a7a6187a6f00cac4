export { createDowngrader } from "./downgrade.js";
export type { Downgrader, DowngradeResult, DowngradeTarget } from "./downgrade.js";
export type { Envelope, EnvelopeClaim, EnvelopeTarget } from "./envelope/envelope.js";
export {
  MAX_ENVELOPE_IDENTIFIER_LENGTH,
  unwrapEnvelope,
  unwrapPartialEnvelope,
} from "./envelope/parse.js";
export { carryEnvelope, upgradeEnvelope, wrapEnvelope } from "./envelope/translate.js";
export type { EnvelopeFacts } from "./envelope/translate.js";
export type { DialectErrorCode, Upgrader, UpgradeResult } from "./upgrade.js";
export { CANCELLED_CODE } from "./legacy/downgrade.js";
export type { LegacyTarget } from "./legacy/downgrade.js";
export { ENVELOPE_NAME, UI_RENDER_HINT_NAME, VENDOR_KEY } from "./names.js";
export { NOTE_MESSAGES } from "./note.js";
export type { DialectNote, DialectRule } from "./note.js";
export type { Dialect, MintId, MintKind, UpgradeOptions } from "./options.js";
export { DEVIATIONS, EMITTER_PROFILES, isRepair, PROFILES } from "./profiles/profiles.js";
export type {
  Deviation,
  DeviationId,
  EmitterProfile,
  Framework,
  ProfileRow,
} from "./profiles/profiles.js";
export { createRepairer } from "./profiles/repair.js";
export type { Repairer, RepairOptions, RepairResult } from "./profiles/repair.js";
export { completeInput, downgradeInput, upgradeInput } from "./request.js";
export type { UpgradedInput } from "./request.js";
export { DEFAULT_CALL_BUFFER_LIMITS } from "./superseded/call-buffer.js";
export type { CallBufferLimits } from "./superseded/call-buffer.js";
export { createUpgrader } from "./upgrade.js";
