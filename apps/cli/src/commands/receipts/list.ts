import type { LogEntry } from "@countersign/receipts";
import type { Command } from "commander";
import pc from "picocolors";
import { printJson, printLine } from "../../output/print.js";
import { formatTable } from "../../output/table.js";
import { addFilterFlags, filterOf } from "./filter.js";
import type { FilterFlags } from "./filter.js";
import { addPlaceFlags, findPlace, withStore } from "./place.js";
import type { PlaceFlags } from "./place.js";

type Flags = PlaceFlags &
  FilterFlags & { limit: string; cursor?: string; oldest?: boolean; json?: boolean };

const EXAMPLE = `
Example:
  $ countersign receipts list --blocked --since 1h
  $ countersign receipts list --classification submit --target modal --json
`;

/** Adds `countersign receipts list`. */
export function registerList(group: Command): void {
  const command = group.command("list").description("decisions on record, newest first");
  addFilterFlags(addPlaceFlags(command))
    .option("--limit <count>", "rows at most", "50")
    .option("--cursor <cursor>", "go on from the page before")
    .option("--oldest", "oldest first")
    .option("--json", "for machines")
    .addHelpText("after", EXAMPLE)
    .action(list);
}

async function list(flags: Flags): Promise<void> {
  const page = await withStore(findPlace(flags), (store) =>
    store.query(filterOf(flags, Date.now()), {
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
    printLine("no receipts match");
    return;
  }
  const header = ["seq", "time", "agent", "event", "class", "target", "decision"];
  printLine(formatTable(header, page.entries.map(rowOf)));
  if (page.cursor !== undefined) printLine(pc.dim(`more: --cursor ${page.cursor}`));
}

function rowOf(entry: LogEntry): string[] {
  const { receipt } = entry;
  const { target } = receipt;
  const type =
    typeof receipt.event_type === "string" ? receipt.event_type : receipt.event_type.custom;
  return [
    String(entry.seq),
    new Date(entry.received_at).toISOString(),
    receipt.agent_id,
    `${entry.direction === "inbound" ? "→ " : ""}${type}`,
    receipt.classification,
    target === undefined
      ? ""
      : [target.component_type, target.component_id].filter(Boolean).join(":"),
    receipt.allowed ? pc.green("allowed") : `${pc.red("blocked")} ${receipt.denial_reason ?? ""}`,
  ];
}
