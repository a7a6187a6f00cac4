#!/usr/bin/env node
import { run } from "./program.js";
import { reportFailure } from "./output/failure.js";
import { endWithReader } from "./output/reader.js";

endWithReader(
  [process.stdout, process.stderr],
  { report: (error) => reportFailure(error, false), exit: (code) => process.exit(code) },
  // A gateway keeps running without a reader of its log.
  process.argv[2] === "serve",
);

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportFailure(error, process.argv.includes("--json"));
}
