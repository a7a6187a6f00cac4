import { canonicalJson, isCountersignError } from "@countersign/core";
import { NO_CAPABILITY } from "@countersign/receipts";
import { retentionReceipt, startRetention } from "@countersign/receipts/log";
import type { EntryDraft, Retention } from "@countersign/receipts/log";
import type { OpenReceipts } from "../control/ports.js";
import type { GatewayContext } from "../runs/gateway-context.js";

type RetentionContext = Pick<GatewayContext, "policy" | "clock" | "mintId" | "journal">;

/** Removes receipts that are older than `receipts.keep`, and announces each removal in the log. */
export function keepReceiptsFor(
  keepMs: number,
  { log, store }: OpenReceipts,
  { policy, clock, mintId, journal }: RetentionContext,
): Retention {
  const announce = (first: number): EntryDraft => ({
    policy_hash: policy().hash,
    mode: "enforce",
    received_at: clock.now(),
    direction: "inbound",
    receipt: {
      timestamp: Math.floor(clock.now() / 1000),
      event_id: mintId("event"),
      capability_id: NO_CAPABILITY,
      classification: "destroy",
      transport: "sse",
      allowed: true,
      ...retentionReceipt(first),
    },
    payload_text: canonicalJson({ act: "retention", first, keep_ms: keepMs }),
  });
  return startRetention({
    log,
    store,
    keepMs,
    clock: () => clock.now(),
    announce,
    onRemoved: (first) => journal.info({ first }, "receipts past receipts.keep were removed"),
    onFailure: (error) =>
      journal.error(
        { code: isCountersignError(error) ? error.code : "INTERNAL" },
        "receipts past receipts.keep could not be removed; the gateway tries again within the hour",
      ),
  });
}
