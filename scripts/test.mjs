// Runs every test and closes with the line `N passed, N failed`, which machines read.
// Arguments go to vitest: `npm test -- packages/wire` runs one folder. Faults come last, two at a time:
// they break real processes, and their time limits do not allow for everything else.
import { runTests } from "./run-tests.mjs";

const { passed, failed, skipped } = runTests(process.argv.slice(2));
process.stdout.write(
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`,
);
process.exitCode = failed > 0 ? 1 : 0;
