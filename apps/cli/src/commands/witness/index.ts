import type { Command } from "commander";
import { registerInitWitness } from "./init.js";
import { registerServeWitness } from "./serve.js";
import { registerShowWitness } from "./show.js";

/** Adds `countersign witness …`. */
export function registerWitness(program: Command): void {
  const group = program
    .command("witness")
    .description("run a witness, which cosigns the checkpoints of logs that only grow");
  registerInitWitness(group);
  registerServeWitness(group);
  registerShowWitness(group);
}
