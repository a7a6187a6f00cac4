import type { Command } from "commander";
import { registerCheck } from "./check.js";
import { registerDiff } from "./diff.js";
import { registerExplain } from "./explain.js";
import { registerReplay } from "./replay.js";
import { registerSchema } from "./schema.js";
import { registerTest } from "./test.js";

/** Adds `countersign policy` with its verbs. */
export function registerPolicy(program: Command): void {
  const group = program
    .command("policy")
    .description("check, compare, explain, test and replay policies");
  registerCheck(group);
  registerDiff(group);
  registerExplain(group);
  registerTest(group);
  registerReplay(group);
  registerSchema(group);
}
