import type { Command } from "commander";
import pc from "picocolors";
import { printJson, printLine } from "../../output/print.js";
import { addFilterFlags, filterOf } from "./filter.js";
import type { FilterFlags } from "./filter.js";
import { entryTable } from "./list-table.js";
import { addLocationFlags, findLocation, withStore } from "./location.js";
import type { LocationFlags } from "./location.js";

type Flags = LocationFlags &
  FilterFlags & { limit: string; cursor?: string; oldest?: boolean; json?: boolean };

const EXAMPLE = `
Works beside a running gateway, as of its last checkpoint (a second ago at
most). An arrow (→) marks what a browser sent, or what an operator did. A narrow
terminal shows times without their date (UTC) and the ends of ids; a pipe gets
everything, and so does \`receipts show SEQ\`.

Example:
  $ countersign receipts list --blocked --since 1h
  $ countersign receipts list --noted
  $ countersign receipts list --agent "<operator>"       what operators did
  $ countersign receipts list --rule gateway/operator-stop   and the runs they ended
  $ countersign receipts list --classification submit --target modal --json
`;

/** Adds `countersign receipts list`. */
export function registerList(group: Command): void {
  const command = group.command("list").description("decisions on record, newest first");
  addFilterFlags(addLocationFlags(command))
    .option("--limit <count>", "rows at most", "50")
    .option("--cursor <cursor>", "go on from the page before")
    .option("--oldest", "oldest first")
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(list);
}

async function list(flags: Flags): Promise<void> {
  const filter = filterOf(flags, Date.now());
  const page = await withStore(findLocation(flags), (store) =>
    store.query(filter, {
      limit: Number(flags.limit),
      order: flags.oldest === true ? "oldest" : "newest",
      ...(flags.cursor === undefined ? {} : { cursor: flags.cursor }),
    }),
  );
  if (flags.json === true) {
    printJson(page);
    return;
  }
  if (page.entries.length === 0) {
    printLine(Object.keys(filter).length === 0 ? "no receipts yet" : "no receipts match");
    return;
  }
  printLine(entryTable(page.entries, process.stdout.columns));
  if (page.cursor !== undefined) printLine(pc.dim(`more: --cursor ${page.cursor}`));
}
