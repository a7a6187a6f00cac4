export type { Access, Authenticator, Grant, GrantName } from "./access/access.js";
export { createApiKey } from "./access/api-keys.js";
export type { NewApiKey } from "./access/api-keys.js";
export {
  createOperatorToken,
  missingList,
  operatorNameProblem,
  parseOperators,
  readOperatorsFile,
  ROLES,
} from "./access/operators.js";
export type { OperatorEntry, Role } from "./access/operators.js";
export { inspectAccess } from "./serve/inspect-access.js";
export type { Principal } from "./access/access.js";
export { readRevocationFile } from "./access/revocation-file.js";
export { openSharedRevocations } from "./access/shared-revocations.js";
export type { SharedRevocations } from "./access/shared-revocations.js";
export type { GatewayConfig } from "./config/config.js";
export { loadConfig } from "./config/load.js";
export type { ConfigOptions } from "./config/reading.js";
export { CONFIG_SCHEMA } from "./config/schema.js";
export type { FeedItem } from "@countersign/core";
export { explainCode } from "./explain/explain-code.js";
export type { CodeMeaning } from "./explain/explain-code.js";
export { explainEntry } from "./explain/explain-entry.js";
export type { EntryMeaning } from "./explain/explain-entry.js";
export { explainName } from "./explain/explain-name.js";
export type { NameMeaning } from "./explain/explain-name.js";
export type { NamedOpening } from "./explain/explain-code.js";
export { openingOfCode, openingsOfCode } from "./explain/explain-code.js";
export { explainRequest } from "./explain/explain-request.js";
export type { RequestStep } from "./explain/explain-request.js";
export { allRules, explainRule } from "./explain/explain-rule.js";
export { rewriteFile } from "./base/rewrite-file.js";
export { assertRegularFile, readRegularFile } from "./base/files.js";
export { gatewaysAlive } from "./cluster/fleet-store.js";
export { createGateway } from "./serve/gateway.js";
export type { Gateway, GatewayOptions } from "./serve/gateway.js";
export { MISSING_PARTS } from "./serve/own-log.js";
export type { AcceptedMissing } from "./serve/own-log.js";
export { inspectOperators } from "./serve/inspect-access.js";
export { assertKeysStart, assertStoreStarts } from "./serve/check-start.js";
export { assertOwnLogIn } from "./serve/own-log.js";
export { assertNewestHistory, shareHistory } from "./serve/stored-history.js";
export { inspectEvidence, readEvidence } from "./serve/open-evidence.js";
export { findSecretKey } from "./keys/secret-key.js";
export { IDENTITY_KEY, identityForms } from "./event/client-identity.js";
export { findExposedKeys } from "./keys/exposed-keys.js";
export { openAdminToken, openKey, readKey } from "./keys/key-directory.js";
export type { AdminToken, KeyPurpose } from "./keys/key-directory.js";
export { RETIRED_ISSUERS, rotateIssuer } from "./keys/issuer-rotation.js";
export type { IssuerRotation } from "./keys/issuer-rotation.js";
export { handOverKey, KEY_FILES, openKeyHistory, writeLogKey } from "./keys/key-history.js";
export type { Clock } from "./base/ports.js";
export type { Recorder } from "./event/recorder.js";
export type { TokenVerifier } from "./access/capabilities.js";
export type { Journal } from "./base/ports.js";
export { inspectTimestamps, inspectWitnesses } from "./serve/inspect-attesting.js";
export { inspectRedis } from "./serve/open-shared-redis.js";
export { MAX_POLICY_BYTES } from "./serve/open-policy.js";
export { readWebhookSecrets } from "./serve/open-webhook.js";
export { readTls } from "./serve/read-tls.js";
export { startGateway } from "./serve/serve.js";
export type { RunningGateway, ServeOptions } from "./serve/serve.js";
export { createJournal } from "./telemetry/journal.js";
export type { JournalOptions, LogFormat, LogLevel, OpenJournal } from "./telemetry/journal.js";
export type { FrameStyle, UpstreamTarget, UpstreamTransport } from "./agent/upstream.js";
