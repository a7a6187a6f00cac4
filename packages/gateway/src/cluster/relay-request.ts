import { isJsonObject, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { ResumeRequest } from "../http/resume/resume-request.js";

/** Where one gateway asks another for a stream; gateways of one log may be of two versions for a while. */
export const RELAY_PATH = "/relay/1";
/** Bytes of a question: a principal may take 1,300, an agent's name and a place little. */
export const MAX_RELAY_REQUEST_BYTES = 16_384;

/** A question as it is sent. */
export function writeRelayRequest(back: ResumeRequest): string {
  return JSON.stringify(back);
}

/** A question as it came; `undefined` when it makes no sense. */
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
