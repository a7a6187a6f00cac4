import type { Command } from "commander";
import { registerAgent } from "./agent.js";
import { registerList } from "./list.js";
import { registerNew } from "./new.js";
import { registerRun } from "./run.js";
import { registerValidate } from "./validate.js";

/** Adds `countersign redteam` with its verbs. */
export function registerRedteam(program: Command): void {
  const group = program
    .command("redteam")
    .description("attack an agent with OATF documents, directly and through a gateway");
  registerRun(group);
  registerValidate(group);
  registerList(group);
  registerNew(group);
  registerAgent(group);
}
