import { CountersignError, printableText } from "@countersign/core";
import { ENTRY_COLUMNS } from "@countersign/receipts/log";
import type { EntryColumn } from "@countersign/receipts/log";
import type { Command } from "commander";
import { printJson, printLine } from "../../output/print.js";
import { formatTable } from "../../output/table.js";
import "../errors.js";
import { addFilterFlags, filterOf, readSpan } from "./filter.js";
import type { FilterFlags } from "./filter.js";
import { addLocationFlags, findLocation, withStore } from "./location.js";
import type { LocationFlags } from "./location.js";

type Flags = LocationFlags & FilterFlags & { by: string; bucket?: string; json?: boolean };

const EXAMPLE = `
Columns: ${ENTRY_COLUMNS.join(", ")}

Examples:
  $ countersign receipts stats --classification submit --target modal --since 1h   # submits on a modal in the last hour
  $ countersign receipts stats --by classification,allowed --bucket 5m --since 1h
`;

/** Adds `countersign receipts stats`. */
export function registerStats(group: Command): void {
  const command = group.command("stats").description("count decisions by column and over time");
  addFilterFlags(addLocationFlags(command))
    .option("--by <columns>", "columns to group by, separated by commas", "classification,allowed")
    .option("--bucket <span>", "length of a time bucket: 5m, 1h, 1d")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(stats);
}

async function stats(flags: Flags): Promise<void> {
  const by = readColumns(flags.by);
  const bucket = flags.bucket === undefined ? undefined : readSpan(flags.bucket);
  const place = findLocation(flags);
  const filter = filterOf(flags, Date.now(), place.keyDirectory);
  const rows = await withStore(place, (store) =>
    store.count({
      filter,
      by,
      ...(bucket === undefined ? {} : { bucket }),
    }),
  );
  if (flags.json === true) {
    printJson({ by, ...(bucket === undefined ? {} : { bucket }), rows });
    return;
  }
  const header = [...(bucket === undefined ? [] : ["from"]), ...by, "count"];
  const cells = rows.map(({ count, from, group }) => [
    ...(from === undefined ? [] : [new Date(from).toISOString()]),
    ...group.map((value) => (value === null ? "-" : printableText(String(value)))),
    String(count),
  ]);
  printLine(rows.length === 0 ? "no receipt matches the options" : formatTable(header, cells));
}

function readColumns(text: string): EntryColumn[] {
  return text
    .split(",")
    .filter((name) => name !== "")
    .map((name) => {
      const column = ENTRY_COLUMNS.find((known) => known === name.trim());
      if (column !== undefined) return column;
      throw new CountersignError(
        "ERR_CLI_COLUMN",
        `no column has the name ${name}. Fix: use one of ${ENTRY_COLUMNS.join(", ")}`,
        { column: name },
      );
    });
}
