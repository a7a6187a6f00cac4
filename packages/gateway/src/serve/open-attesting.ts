import { randomUUID } from "node:crypto";
import { CountersignError } from "@countersign/core";
import { parseVkey } from "@countersign/receipts";
import type { ReceiptStore } from "@countersign/receipts/log";
import { parseTrustAnchors, Timestamping } from "@countersign/receipts/timestamp";
import { Witnessing } from "@countersign/receipts/witness";
import type { WitnessReport } from "@countersign/receipts/witness";
import { readRegularFile } from "../base/files.js";
import type { Clock, Journal } from "../base/ports.js";
import type { GatewayConfig } from "../config/config.js";
import type { OpenAttesting } from "../control/ports.js";

/** A file with trusted certificates. */
export const MAX_PEM_BYTES = 1024 * 1024;
/** Milliseconds that the last round may take while a gateway stops. */
const FINISH_MS = 3_000;

/** Parts that attesting needs. */
export type AttestingParts = {
  readonly store: ReceiptStore;
  /** The vkey of the log. */
  readonly logKey: string;
  readonly clock: Clock;
  readonly journal: Journal;
};

/**
 * Opens the witnesses and the timestamp authority of a configuration; asks nothing yet, except the
 * witnesses for their newest checkpoint (`at_start`).
 *
 * @throws CountersignError `ERR_WITNESS_LOG_CHANGED` when a witness knows more of the log than the store
 */
export async function openAttesting(
  { receipts }: GatewayConfig,
  { store, logKey, clock, journal }: AttestingParts,
): Promise<OpenAttesting> {
  const key = parseVkey(logKey);
  const holder = randomUUID();
  const own = { store, logKey: key, holder, clock: () => clock.now() };
  const { witnesses, timestamps } = receipts;
  const timestamping =
    timestamps &&
    new Timestamping({
      ...own,
      authority: {
        url: timestamps.url,
        anchors: parseTrustAnchors(
          readRegularFile(timestamps.caFile, MAX_PEM_BYTES).toString("utf8"),
        ),
        timeoutMs: timestamps.timeoutMs,
      },
      intervalMs: timestamps.intervalMs,
      onReport: (reason) => reportTimestamps(journal, reason),
    });
  const witnessing =
    witnesses &&
    new Witnessing({
      ...own,
      witnesses: witnesses.list.map(({ vkey, url }) => ({ key: parseVkey(vkey), url })),
      threshold: witnesses.threshold,
      intervalMs: witnesses.intervalMs,
      timeoutMs: witnesses.timeoutMs,
      onReport: (report) => reportWitness(journal, report),
    });
  await witnessing?.load();
  if (witnesses?.asksAtStart === true) await witnessing?.assertUnchanged();
  const isLate = (): boolean =>
    witnesses !== undefined && witnessing !== undefined
      ? witnessing.uncoveredMs > witnesses.maxAgeMs
      : false;
  return {
    witnessing,
    timestamping,
    isLate,
    assertWitnessed() {
      if (witnesses?.onMissing !== "stop" || !isLate()) return;
      const waited = Math.floor((witnessing?.uncoveredMs ?? 0) / 1000);
      throw new CountersignError(
        "ERR_LOG_UNWITNESSED",
        `the log has had entries without enough cosignatures for ${waited} s (receipts.witnesses.on_missing: stop). Fix: bring the witnesses back; countersign_witness_failing names those that fail`,
        { seconds: waited },
      );
    },
    start() {
      witnessing?.start();
      timestamping?.start();
    },
    async close(checkpoint) {
      await timestamping?.close();
      if (witnessing === undefined) return;
      // A failed checkpoint is reported when the log closes.
      if (witnessing.uncoveredMs > 0) await checkpoint().catch(() => undefined);
      await witnessing.finish(FINISH_MS);
    },
  };
}

function reportTimestamps(journal: Journal, reason: string | undefined): void {
  if (reason === undefined) journal.info({}, "checkpoints are dated again");
  else journal.warn({ code: "TIMESTAMP_FAILED", reason }, "the checkpoint could not be dated");
}

function reportWitness(journal: Journal, report: WitnessReport): void {
  switch (report.kind) {
    case "failing":
      return journal.warn(
        { code: "WITNESS_FAILING", witness: report.witness, reason: report.reason },
        "a witness did not cosign the checkpoint",
      );
    case "recovered":
      return journal.info({ witness: report.witness }, "a witness cosigns again");
    case "forgetful":
      return journal.error(
        { code: "WITNESS_FORGOT", witness: report.witness, size: report.size },
        "a witness forgot checkpoints that it cosigned. Fix: ask its operator; a witness restored from a backup must get a new key",
      );
    case "changed": {
      const { size, isProven } = report.claim;
      return journal.error(
        { code: "WITNESS_CONTRADICTS", witness: report.witness, size, proven: isProven },
        isProven
          ? "a witness has a checkpoint that the key of this log signed and the store does not hold: the log was rolled back, or another log uses its key"
          : "a witness says that the log was rolled back or replaced, without proof",
      );
    }
    case "unsaved":
      return journal.error(
        { code: "ATTESTATIONS_UNSAVED", reason: report.reason },
        "cosignatures could not be stored",
      );
  }
}
