import { join } from "node:path";
import { createNoteKey, parseVkey } from "@countersign/receipts";
import type { ReceiptStore } from "@countersign/receipts/log";
import { parseTrustAnchors } from "@countersign/receipts/timestamp";
import { readNewest, Witnessing } from "@countersign/receipts/witness";
import { readRegularFile } from "../base/files.js";
import type { GatewayConfig } from "../config/config.js";
import { readKey } from "../keys/key-directory.js";
import { MAX_PEM_BYTES } from "./open-attesting.js";

type Inspected = Pick<GatewayConfig, "receipts" | "keyDirectory">;

/**
 * Asks the witnesses for their newest checkpoint as a start would, and describes which of them respond.
 *
 * @throws CountersignError `ERR_WITNESS_LOG_CHANGED` when a start would fail with it
 */
export async function inspectWitnesses(
  { receipts, keyDirectory }: Inspected,
  store: ReceiptStore | undefined,
): Promise<string> {
  const { witnesses, origin } = receipts;
  if (witnesses === undefined) return "none";
  const { threshold, list, intervalMs, timeoutMs } = witnesses;
  const summary = `${list.length} configured, ${threshold} must cosign`;
  if (store === undefined) return `${summary}; they are asked after the first start`;
  const key = await readKey(join(keyDirectory, "checkpoint.pem"));
  const logKey = createNoteKey(origin, key.publicKey);
  const addresses = list.map(({ vkey, url }) => ({ key: parseVkey(vkey), url }));
  const clock = (): number => Date.now();
  const common = { store, logKey, threshold, intervalMs, timeoutMs, holder: "check", clock };
  const witnessing = new Witnessing({ ...common, witnesses: addresses });
  if (witnesses.asksAtStart) await witnessing.assertUnchanged();
  const answers = await Promise.all(
    addresses.map(async ({ key: { name }, url }) => {
      const newest = await readNewest(url, [logKey], { timeoutMs, now: clock() });
      return "reason" in newest
        ? `${name} has no checkpoint to compare: ${newest.reason}`
        : `${name} cosigned ${newest.checkpoint.size} entries`;
    }),
  );
  return [summary, ...answers].join("; ");
}

/** Reads the certificates that a start reads. Asks nothing: a timestamp may cost money. */
export function inspectTimestamps({ receipts: { timestamps } }: Inspected): string {
  if (timestamps === undefined) return "none";
  const anchors = parseTrustAnchors(
    readRegularFile(timestamps.caFile, MAX_PEM_BYTES).toString("utf8"),
  );
  return `${new URL(timestamps.url).origin}, trusted certificates: ${anchors.length}`;
}
