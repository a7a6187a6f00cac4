import { Session } from "node:inspector";
import type { JsonValue } from "@countersign/core";

/** The blocks of code that one event runs, and those of taking it back when it was undecided. */
export interface Cost {
  readonly applied: number;
  readonly undone: number;
}

// V8 counts block by block only in modules that are loaded afterwards: this process has no others.
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
const { createSurfaceModel } = await import("../index.js");

/** The blocks since the last call. */
function take(): number {
  let count = 0;
  session.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error !== null) throw error;
    for (const { url, functions } of coverage.result) {
      if (!url.startsWith("file:")) continue;
      for (const { ranges } of functions) for (const range of ranges) count += range.count;
    }
  });
  return count;
}

function blocksOf(run: () => void): number {
  take();
  run();
  return take();
}

process.on("message", (events: readonly JsonValue[][]) => {
  const model = createSurfaceModel();
  const costs = events.map((operations): Cost => {
    let isUndecided = false;
    const applied = blocksOf(() => {
      const content = { a2ui_operations: operations };
      const facts = model.apply({ kind: "result", toolCallId: "c", content });
      isUndecided = facts.problems.some((problem) => problem.isUndecided);
    });
    // The gateway takes back what it blocks.
    return { applied, undone: isUndecided ? blocksOf(() => model.undo()) : 0 };
  });
  process.send?.(costs);
});
