import type { Command } from "commander";
import { registerInspect } from "./inspect.js";
import { registerIssue } from "./issue.js";
import { registerNarrow } from "./narrow.js";
import { registerRevoke } from "./revoke.js";

/** Adds `countersign capability` with its verbs. */
export function registerCapability(program: Command): void {
  const group = program
    .command("capability")
    .description("issue, inspect, narrow and revoke capability tokens");
  registerIssue(group);
  registerInspect(group);
  registerNarrow(group);
  registerRevoke(group);
}
