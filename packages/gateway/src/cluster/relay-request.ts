import { isJsonObject, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { ResumeRequest } from "../http/resume/resume-request.js";

/** The path of relay requests; its number allows gateways of two versions on one log. */
export const RELAY_PATH = "/relay/1";
/**
 * Maximum bytes of a relay request: a principal has up to 1,300, the agent's name and the stream
 * position little.
 */
export const MAX_RELAY_REQUEST_BYTES = 16_384;

/** Encodes a relay request. */
export function writeRelayRequest(back: ResumeRequest): string {
  return JSON.stringify(back);
}

/** Decodes a relay request; `undefined` when it is invalid. */
export function readRelayRequest(bytes: Uint8Array): ResumeRequest | undefined {
  const question = parseJson(bytes);
  if (!isJsonObject(question)) return undefined;
  const { lastEventId, agent, holder, returnsForever } = question as JsonObject;
  if (typeof lastEventId !== "string" || typeof agent !== "string") return undefined;
  if (!isJsonObject(holder) || typeof returnsForever !== "boolean") return undefined;
  const { principal, ticket } = holder as JsonObject;
  const shared = { lastEventId, agent, returnsForever };
  if (typeof principal === "string") return { ...shared, holder: { principal } };
  return typeof ticket === "string" ? { ...shared, holder: { ticket } } : undefined;
}
