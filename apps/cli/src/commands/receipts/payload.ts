import { CountersignError, printableJson } from "@countersign/core";
import { readEvidence } from "@countersign/gateway";
import type { LogEntry } from "@countersign/receipts";
import { printLine } from "../../output/print.js";
import { readConfiguration } from "../configuration.js";
import "../errors.js";
import type { Location, LocationFlags } from "./location.js";

/** A payload from the evidence store. */
export type KeptPayload = {
  readonly payload: string;
  readonly emitted?: string;
  readonly redacted?: readonly string[];
};

const REASONS = {
  "no store":
    "the gateway keeps no payloads. Fix: set evidence.keep in countersign.yaml; it holds from then on",
  "not kept":
    "it was not one that evidence.events keeps, its time is over, or it made room for newer ones",
  expired: "its time is over (evidence.keep)",
  policy: "the policy keeps none of such events (ag_ui_evidence.never)",
  size: "it was larger than evidence.max_payload_bytes",
} as const;

/**
 * Reads the kept payload of an entry; its hash was compared with the log.
 *
 * @throws ERR_CLI_NO_PAYLOAD with the reason, ERR_EVIDENCE_DAMAGED, ERR_EVIDENCE_KEY
 */
export async function readPayload(
  place: Location,
  flags: LocationFlags,
  entry: LogEntry,
): Promise<KeptPayload> {
  const keepMs = readConfiguration(flags.config)?.evidence?.keepMs ?? Number.POSITIVE_INFINITY;
  const read = await readEvidence({ ...place, keptSince: Date.now() - keepMs }, entry);
  if (typeof read === "string") throw noPayload(entry.seq, REASONS[read]);
  if ("problem" in read) throw read.problem;
  const { payload, omitted = "policy", ...rest } = read.copy;
  if (payload === undefined) throw noPayload(entry.seq, REASONS[omitted]);
  return { payload, ...rest };
}

/** Prints a payload so that none of its characters acts on the terminal. */
export function printPayload({ payload, emitted, redacted }: KeptPayload): void {
  printLine(
    redacted === undefined
      ? "Payload (its SHA-256 is that of the receipt):"
      : `Payload (the policy removed ${redacted.length === 1 ? "one part" : `${redacted.length} parts`}; the receipt has the hash of the original):`,
  );
  printLine(printableJson(payload));
  if (emitted !== undefined) {
    printLine("The client received:");
    printLine(printableJson(emitted));
  }
  printLine("");
}

function noPayload(seq: number, reason: string): CountersignError<"ERR_CLI_NO_PAYLOAD"> {
  return new CountersignError(
    "ERR_CLI_NO_PAYLOAD",
    `no payload of entry ${seq} is kept: ${reason}`,
    { seq },
  );
}
