import type { Command } from "commander";
import { registerExport } from "./export.js";
import { registerList } from "./list.js";
import { registerProof } from "./proof.js";
import { registerShow } from "./show.js";
import { registerStats } from "./stats.js";
import { registerVerify } from "./verify.js";

/** Adds `countersign receipts …`. */
export function registerReceipts(program: Command): void {
  const group = program
    .command("receipts")
    .description("list, show, count, prove, export and verify receipts");
  registerList(group);
  registerShow(group);
  registerVerify(group);
  registerProof(group);
  registerExport(group);
  registerStats(group);
}
