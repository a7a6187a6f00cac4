import { expect, test } from "vitest";
import { createSocketRuns } from "./runs.js";

test("several runs on one socket are told apart", () => {
  const runs = createSocketRuns();
  expect(runs.input()).toBe(1);
  expect(runs.event("RUN_STARTED")).toEqual({ exchange: 1, run: 1, ends: false });
  expect(runs.event("STATE_SNAPSHOT")).toEqual({ exchange: 1, run: 1, ends: false });
  expect(runs.event("RUN_FINISHED")).toEqual({ exchange: 1, run: 1, ends: true });
  expect(runs.input()).toBe(2);
  expect(runs.event("RUN_STARTED")).toEqual({ exchange: 2, run: 2, ends: false });
  expect(runs.event("RUN_ERROR")).toEqual({ exchange: 2, run: 2, ends: true });
  expect(runs.close()).toBe("complete");
});

test("one input may be answered by several runs, and an error may come first or late", () => {
  const runs = createSocketRuns();
  runs.input();
  expect(runs.event("RUN_ERROR")).toEqual({ exchange: 1, run: 0, ends: true });
  runs.input();
  for (const type of ["RUN_STARTED", "RUN_FINISHED", "RUN_STARTED", "RUN_FINISHED"])
    runs.event(type);
  expect(runs.event("RUN_ERROR")).toEqual({ exchange: 2, run: 2, ends: true });
  expect(runs.active).toBe(false);
});

test("a second input is refused while a run is going, and from the input on one is owed", () => {
  const runs = createSocketRuns();
  runs.input();
  const refused = expect.objectContaining({
    code: "ERR_WEBSOCKET_RUN_ACTIVE",
    facts: { exchange: 1 },
  });
  expect(() => runs.input()).toThrow(refused);
  runs.event("RUN_STARTED");
  expect(() => runs.input()).toThrow(refused);
});

test("an event before any input is refused", () => {
  expect(() => createSocketRuns().event("RUN_STARTED")).toThrow(
    expect.objectContaining({ code: "ERR_WEBSOCKET_NO_INPUT" }),
  );
});

test("a close without a terminal event is truncation", () => {
  const runs = createSocketRuns();
  expect(createSocketRuns().close()).toBe("complete");
  runs.input();
  runs.event("RUN_STARTED");
  expect(runs.close()).toBe("truncated");
  expect(() => runs.event("RUN_FINISHED")).toThrow(TypeError);
});

test("the number of runs is bounded in both directions", () => {
  const runs = createSocketRuns({ maxRuns: 2 });
  const over = expect.objectContaining({ code: "ERR_LIMIT_EXCEEDED" });
  for (let round = 0; round < 2; round++) {
    runs.input();
    runs.event("RUN_STARTED");
    runs.event("RUN_FINISHED");
  }
  expect(() => runs.input()).toThrow(over);
  expect(() => runs.event("RUN_STARTED")).toThrow(over);
});
