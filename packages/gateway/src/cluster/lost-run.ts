import { canonicalJson, parseJson, writeJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { EventFacts } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import { createDowngrader, wrapEnvelope } from "@countersign/wire/dialects";
import type { SharedFacts } from "../http/resume/resume-request.js";
import { GATEWAY_LOST } from "../outbound/deliver/run-error.js";
import { entryOf } from "../outbound/record/draft.js";
import {
  isReceiptName,
  RECEIPT_AHEAD_NAME,
  streamReceiptId,
} from "../outbound/record/receipt-chain.js";
import type { GatewayContext } from "../runs/gateway-context.js";

const ERROR_FACTS: EventFacts = {
  source: "RUN_ERROR",
  direction: "outbound",
  eventType: "error",
  classification: "display",
  derived: "display",
};

type Parts = Pick<GatewayContext, "recorder" | "policy" | "clock" | "mintId">;

/**
 * Ends a run whose gateway is gone: signs for the error, and resolves with what its client gets once the receipt is
 * durable. `tail` has the last events of the stream.
 */
export async function endLostRun(
  { recorder, policy, clock, mintId }: Parts,
  { holder, run, transport }: SharedFacts,
  tail: readonly string[],
): Promise<string[]> {
  const { code, message } = GATEWAY_LOST;
  const event: AgUiEvent = { type: "RUN_ERROR", message, code };
  const { hash: policyHash, mode } = policy();
  const now = clock.now();
  const draft = entryOf({
    facts: ERROR_FACTS,
    decision: { allow: true } as Parameters<typeof entryOf>[0]["decision"],
    capabilityId: undefined,
    receivedAt: now,
    eventId: (run.hasReceipts ? nextReceiptId(tail) : undefined) ?? mintId("event"),
    agentId: holder.agent,
    sessionId: holder.sessionId,
    client: run.client,
    transport,
    payloadText: canonicalJson(event as unknown as JsonValue),
    policyHash,
    mode,
  });
  draft.run_id = run.runId;
  draft.thread_id = run.threadId;
  const [recorded] = await recorder.appendAll([draft]);
  if (recorded === undefined) throw new TypeError("the log answered without an entry");
  const texts = formsOf(event, holder, run.clientDialect, now, () => mintId("event"));
  const receipt = run.hasReceipts ? recorded.entry?.receipt : undefined;
  if (receipt !== undefined && hasStarted(tail)) {
    texts.unshift(writeJson({ type: "CUSTOM", name: RECEIPT_AHEAD_NAME, value: receipt } as never));
  }
  return texts;
}

/** The error in the dialect of the client. */
function formsOf(
  event: AgUiEvent,
  { agent, sessionId }: SharedFacts["holder"],
  dialect: string,
  now: number,
  mintEventId: () => string,
): string[] {
  if (dialect === "1.0" || dialect === "as-sent") return [writeJson(event as never)];
  if (dialect === "envelope") {
    const envelope = wrapEnvelope(event, {
      eventId: mintEventId(),
      agentId: agent,
      sessionId,
      timestamp: Math.floor(now / 1000),
      eventType: "error",
      classification: "display",
    });
    return envelope === undefined ? [] : [writeJson(envelope as never)];
  }
  const { events } = createDowngrader(dialect as Parameters<typeof createDowngrader>[0]).push(
    event,
  );
  return events.map((one) => writeJson(one as never));
}

function hasStarted(tail: readonly string[]): boolean {
  return tail.length > 0;
}

/** The id of the receipt that follows the last one of the stream. */
function nextReceiptId(tail: readonly string[]): string | undefined {
  for (const text of tail.toReversed()) {
    if (!text.includes("countersign.receipt")) continue;
    const { type, name, value } = parseJson(text) as JsonObject;
    if (type !== "CUSTOM" || typeof name !== "string" || !isReceiptName(name)) continue;
    const id = (value as JsonObject)["event_id"];
    const [, stream, place] = /^(.*)\.(\d+)$/u.exec(String(id)) ?? [];
    if (stream !== undefined) return streamReceiptId(stream, Number(place) + 1);
  }
  return undefined;
}
