#!/usr/bin/env node
import { createProgram } from "./program.js";
import { reportFailure } from "./output/failure.js";

try {
  await createProgram().parseAsync(process.argv);
} catch (error) {
  process.exitCode = reportFailure(error, process.argv.includes("--json"));
}
