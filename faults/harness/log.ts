import { auditExport, payloadHash } from "@countersign/testkit";
import type { AuditedEntry } from "@countersign/testkit";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ClientRun, SeenEvent } from "./client.js";
import { countersign } from "./command.js";

/** A log that was exported and verified, by the command and by an auditor without our code. */
export type CheckedLog = {
  readonly entries: readonly AuditedEntry[];
  /** The entry that allowed an event to be delivered, by the hash of the event as it was delivered. */
  readonly allowed: ReadonlyMap<string, AuditedEntry>;
};

/** Exports the log of a gateway that is not running and verifies it twice; throws where it does not hold. */
export async function checkLog(directory: string): Promise<CheckedLog> {
  const log = await auditLog(directory);
  await countersign(directory, "receipts", "verify", join(directory, "export"));
  return log;
}

/** Exports the log and has only the independent auditor look at it: quicker, for rounds before the last. */
export async function auditLog(directory: string): Promise<CheckedLog> {
  const target = join(directory, "export");
  await rm(target, { recursive: true, force: true });
  await countersign(directory, "receipts", "export", target);
  const logKey = await readFile(join(directory, "keys", "log.vkey"), "utf8");
  const entries = await auditExport(target, logKey.trim());
  const allowed = new Map<string, AuditedEntry>();
  for (const entry of entries) {
    if (!entry.receipt.allowed || entry.direction !== "outbound") continue;
    allowed.set(entry.emitted_hash ?? entry.receipt.payload_hash, entry);
  }
  return { entries, allowed };
}

/** The gateway's own words need no receipt: they say nothing in the agent's name. */
function isGatewaysOwn(event: SeenEvent): boolean {
  if (event.type === "CUSTOM") return String(event["name"]).startsWith("countersign.");
  return (
    event.type === "RUN_ERROR" &&
    /^(?:AGENT|GATEWAY|BLOCKED|RECEIPTS|RUN)_/u.test(String(event["code"]))
  );
}

/** The events that clients received although no durable receipt allows them; there must be none. */
export function unreceipted(
  log: CheckedLog,
  runs: readonly Pick<ClientRun, "events">[],
): SeenEvent[] {
  return runs.flatMap(({ events }) =>
    events.filter((event) => !isGatewaysOwn(event) && !log.allowed.has(payloadHash(event))),
  );
}
