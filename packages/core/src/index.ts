export { decodeBase64, decodeBase64Url, encodeBase64, encodeBase64Url } from "./bytes/base64.js";
export { concatBytes, equalBytes } from "./bytes/bytes.js";
export { decodeHex, encodeHex } from "./bytes/hex.js";
export { sha256, sha256Hex } from "#sha256";
export { CountersignError, isCountersignError } from "./errors/error.js";
export type { ErrorCode, ErrorFacts } from "./errors/error.js";
export { canonicalJson } from "./json/canonical.js";
export { hasControlCharacter, printableJson, printableText } from "./text/printable.js";
export { isJsonObject, ownMember, setMember } from "./json/object.js";
export { parseLeniently } from "./json/lenient.js";
export { parseJson } from "./json/parse.js";
export type { JsonLimits } from "./json/parse.js";
export { createJsonSequence } from "./json/sequence.js";
export type { JsonSequence } from "./json/sequence.js";
export { decodeUtf8, invalidUtf8Offset, utf8Length } from "./json/utf8.js";
export type { JsonObject, JsonValue } from "./json/value.js";
export { isWellFormed } from "./json/well-formed.js";
export { writeJson } from "./json/write.js";
export { assertWithin, DEFAULT_LIMITS, resolveLimits } from "./limits/limits.js";
export type { Limits } from "./limits/limits.js";
export { assertPositiveInteger } from "./limits/text-limits.js";
export { LightSignal } from "./memory/light-signal.js";
export type { Signal } from "./memory/light-signal.js";
export { SmallMap } from "./memory/small-map.js";
export { pageAddress } from "./text/documentation.js";
export { parseUrl } from "./text/url.js";
export { CAPABILITY_STATUS_REASONS, CAPABILITY_STATUSES } from "./vocabulary/capability.js";
export type { CapabilityFacts, CapabilityStatus } from "./vocabulary/capability.js";
export type {
  ControlRun,
  ControlRunStatus,
  ControlSession,
  FeedItem,
  GatewayFacts,
} from "./vocabulary/control-api.js";
export { CLASSIFICATIONS, OPERATOR_AGENT, PLAIN_EVENT_TYPES } from "./vocabulary/event.js";
export type {
  Classification,
  Direction,
  NamedEventType,
  PlainEventType,
  PolicyMode,
} from "./vocabulary/event.js";
