import type { LogEntry } from "@countersign/receipts";
import { formatTable } from "../../output/table.js";
import { decisionOf, targetOf, typeOf } from "./describe.js";
import { printable } from "./printable.js";

/** Columns of a terminal from which on nothing is shortened. */
const WIDE = 160;
const ID_ROOM = 8;
const AGENT_ROOM = 8;
const EVENT_ROOM = 13;

/**
 * Entries as a table. A pipe and a wide terminal get everything; in 80 columns times lose their date, ids all but their
 * end, which tells them apart, and the target goes behind the decision: `receipts show SEQ` has all of it.
 */
export function entryTable(entries: readonly LogEntry[], columns: number | undefined): string {
  if (columns === undefined || columns >= WIDE) {
    const header = [
      "seq",
      "time",
      "session",
      "run",
      "agent",
      "event",
      "class",
      "target",
      "decision",
    ];
    return formatTable(header, entries.map(wideRow));
  }
  const header = ["seq", "time", "session", "run", "agent", "event", "class", "decision"];
  return formatTable(header, entries.map(narrowRow));
}

function wideRow(entry: LogEntry): string[] {
  const { receipt } = entry;
  return [
    String(entry.seq),
    new Date(entry.received_at).toISOString(),
    printable(receipt.session_id ?? ""),
    printable(entry.run_id ?? ""),
    printable(receipt.agent_id),
    eventOf(entry),
    receipt.classification,
    targetOf(receipt),
    decisionOf(entry),
  ];
}

function narrowRow(entry: LogEntry): string[] {
  const { receipt } = entry;
  return [
    String(entry.seq),
    new Date(entry.received_at).toISOString().slice(11, 19),
    endOf(printable(receipt.session_id ?? ""), ID_ROOM),
    endOf(printable(entry.run_id ?? ""), ID_ROOM),
    startOf(printable(receipt.agent_id), AGENT_ROOM),
    startOf(eventOf(entry), EVENT_ROOM),
    receipt.classification,
    `${decisionOf(entry)} ${targetOf(receipt)}`.trimEnd(),
  ];
}

const eventOf = (entry: LogEntry): string =>
  `${entry.direction === "inbound" ? "→ " : ""}${typeOf(entry.receipt)}`;

const endOf = (text: string, room: number): string =>
  text.length > room ? `…${text.slice(1 - room)}` : text;

const startOf = (text: string, room: number): string =>
  text.length > room ? `${text.slice(0, room - 1)}…` : text;
