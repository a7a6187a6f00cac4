import { parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import { unwrapPartialEnvelope, upgradeInput } from "@countersign/wire/dialects";
import { enforceInput } from "@countersign/wire/enforce";
import { assertInputIdentifiers } from "../outbound/enforce/identifiers.js";
import { claimId } from "../outbound/translate/claimed-ids.js";
import { errorOf, sortFindings } from "./finding.js";
import type { Finding } from "./finding.js";
import type { InboundRequest } from "./request.js";
import { isSentUnstripped, reviewKeys } from "./strict-keys.js";

type BrowserMessage = NonNullable<InboundRequest["message"]>;

/** Parses the body or frame: strict JSON, within the limits. */
export function decodeRequest(request: InboundRequest): JsonValue {
  const { maxInputBytes: maxBytes, maxDepth, maxInputValues: maxValues } = request.limits;
  request.value = parseJson(request.bytes, { maxBytes, maxDepth, maxValues });
  return request.value;
}

/** Translates an input of an older version to AG-UI 1.0, and opens the envelope of a message. */
export function translateRequest(request: InboundRequest): void {
  const value = request.value as JsonValue;
  if (request.kind === "message") {
    request.message = withOwnId(request, unwrapPartialEnvelope(value));
    return;
  }
  const { sessionId: threadId, mintId } = request;
  const { input, notes } = upgradeInput(value, { dialect: "auto", threadId, mintId });
  request.value = input;
  const lost = notes.find(({ rule }) => rule === "binary-part-removed");
  if (lost !== undefined) request.lostPart = lost.path;
}

/** Keeps the id of a message, or creates a new one if the id would name two receipts. */
function withOwnId(request: InboundRequest, message: BrowserMessage): BrowserMessage {
  const { envelope } = message;
  const { event_id: id } = envelope;
  if (id === undefined) return message;
  const own = claimId(request.recorder, id, request, request.mintId);
  return own === id ? message : { ...message, envelope: { ...envelope, event_id: own } };
}

/**
 * Finds the keys that AG-UI does not define, and decides whether they are removed or sent.
 *
 * @throws CountersignError where the policy refuses such keys
 */
export function checkKeys(request: InboundRequest, raw: JsonValue): readonly Finding[] {
  const { policy, lostPart } = request;
  const value = request.value as JsonValue;
  const review = reviewKeys(raw, value, policy.request, lostPart);
  if (review.removed > 0) {
    if (isSentUnstripped(review, policy)) request.unstrippedBody = value as JsonObject;
    else request.isStripped = true;
  }
  const { refusing } = sortFindings(review.findings, policy);
  if (refusing !== undefined) throw errorOf(refusing);
  return review.findings;
}

/** Validates the input against the AG-UI 1.0 schema. */
export function enforceRequest(request: InboundRequest): RunAgentInput {
  const { input } = enforceInput(request.value as JsonValue);
  assertInputIdentifiers(input, request.limits.maxIdLength);
  request.input = input;
  return input;
}
