import { stripVTControlCharacters } from "node:util";
import type { LogEntry } from "@countersign/receipts";
import { formatTable } from "../../output/table.js";
import { decisionOf, reasonOf, targetOf, typeOf, verdictOf } from "./describe.js";
import { printableText } from "@countersign/core";

/** Columns of a terminal from which on nothing is shortened. */
const WIDE = 160;
const ID_ROOM = 8;
const AGENT_ROOM = 8;
const PRINCIPAL_ROOM = 9;
const EVENT_ROOM = 13;
const INDENT = " ".repeat(5);

/**
 * Formats entries as a table. A pipe and a wide terminal get every column. In 80 columns, times lose their
 * date and ids keep only their end. Columns that do not fit after the verdict go below it. `receipts show
 * SEQ` prints all of it.
 */
export function entryTable(entries: readonly LogEntry[], columns: number | undefined): string {
  if (columns === undefined || columns >= WIDE) {
    const header = [
      "seq",
      "time",
      "session",
      "run",
      "agent",
      "principal",
      "event",
      "tool",
      "class",
      "target",
      "decision",
    ];
    return formatTable(header, entries.map(wideRow));
  }
  const header = ["seq", "time", "principal", "run", "agent", "event", "class", "decision"];
  const [titles, ...lines] = formatTable(header, entries.map(narrowRow)).split("\n");
  const rows = lines.map((line, row) => {
    const entry = entries[row];
    return entry === undefined ? line : withReason(line, entry, columns);
  });
  return [titles, ...rows].join("\n");
}

/** The line with its reason and target: behind it where they fit, below it where they do not. */
function withReason(line: string, entry: LogEntry, columns: number): string {
  const target = placeOf(entry);
  const reason = reasonOf(entry);
  const tool = entry.tool === undefined ? "" : `tool ${printableText(entry.tool)}`;
  const whole = [line, reason, tool, target].filter((part) => part !== "").join(" ");
  if (stripVTControlCharacters(whole).length <= columns) return whole;
  const event = eventOf(entry).length > EVENT_ROOM ? eventOf(entry) : "";
  if (reason === "" && event === "" && tool === "") return line;
  const below = [reason, tool, target, event].filter((part) => part !== "").join("  ");
  return `${line}\n${INDENT}${below}`;
}

function wideRow(entry: LogEntry): string[] {
  const { receipt } = entry;
  return [
    String(entry.seq),
    new Date(entry.received_at).toISOString(),
    printableText(receipt.session_id ?? ""),
    printableText(entry.run_id ?? ""),
    printableText(receipt.agent_id),
    printableText(entry.principal ?? ""),
    eventOf(entry),
    printableText(entry.tool ?? ""),
    receipt.classification,
    placeOf(entry),
    decisionOf(entry),
  ];
}

function narrowRow(entry: LogEntry): string[] {
  const { receipt } = entry;
  return [
    String(entry.seq),
    new Date(entry.received_at).toISOString().slice(11, 19),
    endOf(printableText(entry.principal ?? ""), PRINCIPAL_ROOM),
    endOf(printableText(entry.run_id ?? ""), ID_ROOM),
    startOf(printableText(receipt.agent_id), AGENT_ROOM),
    startOf(eventOf(entry), EVENT_ROOM),
    receipt.classification,
    verdictOf(entry),
  ];
}

/** The component, and the path that decided. */
const placeOf = ({ receipt, path = "" }: LogEntry): string =>
  [targetOf(receipt), printableText(path)].filter((part) => part !== "").join(" ");

const eventOf = (entry: LogEntry): string =>
  `${entry.direction === "inbound" ? "→ " : ""}${typeOf(entry.receipt)}`;

const endOf = (text: string, room: number): string =>
  text.length > room ? `…${text.slice(1 - room)}` : text;

const startOf = (text: string, room: number): string =>
  text.length > room ? `${text.slice(0, room - 1)}…` : text;
