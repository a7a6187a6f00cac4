import type { Command } from "commander";
import pc from "picocolors";
import { printJson, printLine } from "../../output/print.js";
import { addFilterFlags, filterOf } from "./filter.js";
import type { FilterFlags } from "./filter.js";
import { entryTable } from "./list-table.js";
import { addLocationFlags, findLocation, withStore } from "./location.js";
import type { LocationFlags } from "./location.js";
import { readWitnessed } from "./witnessed.js";

type Flags = LocationFlags &
  FilterFlags & { limit: string; cursor?: string; oldest?: boolean; json?: boolean };

const EXAMPLE = `
The command also works while the gateway runs; it then reads up to the last checkpoint, at most a second old. An arrow (→) marks
requests of clients and actions of operators. A narrow terminal shows times (UTC) without their date, and only the ends of
ids. A pipe and countersign receipts show SEQ give everything.

Examples:
  $ countersign receipts list --blocked --since 1h
  $ countersign receipts list --would-block
  $ countersign receipts list --agent "<operator>"           # actions of operators
  $ countersign receipts list --rule gateway/operator-stop   # runs that operators stopped
  $ countersign receipts list --classification submit --target modal --json
`;

/** Adds `countersign receipts list`. */
export function registerList(group: Command): void {
  const command = group.command("list").description("list decisions, newest first");
  addFilterFlags(addLocationFlags(command))
    .option("--limit <count>", "maximum number of rows", "50")
    .option("--cursor <cursor>", "start after the previous page")
    .option("--oldest", "list the oldest first")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLE)
    .action(list);
}

async function list(flags: Flags): Promise<void> {
  const place = findLocation(flags);
  const filter = filterOf(flags, Date.now(), place.keyDirectory);
  const { page, witnessed } = await withStore(place, async (store) => ({
    page: await store.query(filter, {
      limit: Number(flags.limit),
      order: flags.oldest === true ? "oldest" : "newest",
      ...(flags.cursor === undefined ? {} : { cursor: flags.cursor }),
    }),
    witnessed: await readWitnessed(store, place),
  }));
  if (flags.json === true) {
    // The entries below `witnessed.size` are covered by cosignatures.
    printJson(witnessed === undefined ? page : { ...page, witnessed });
    return;
  }
  if (page.entries.length === 0) {
    printLine(
      Object.keys(filter).length === 0
        ? "the log has no receipts yet"
        : "no receipt matches the options",
    );
    return;
  }
  printLine(entryTable(page.entries, process.stdout.columns));
  if (page.cursor !== undefined) printLine(pc.dim(`Next page: --cursor ${page.cursor}`));
}
