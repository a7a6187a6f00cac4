import * as fc from "fast-check";
import type { JsonValue } from "@countersign/core";
import type { JsonPatch } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import { expect, test } from "vitest";
import { inRun } from "../../testing/events.js";
import { OPEN_POLICY } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";

const IDS = { threadId: "t", runId: "r" };
const POLICY = OPEN_POLICY.replace("enabled: true", "max_events_per_second: 1000000");

type State = { [key: string]: unknown };

async function run(events: readonly object[], state?: State, policy = POLICY) {
  const gateway = createInProcess(policy);
  const input = { ...IDS, messages: [], ...(state === undefined ? {} : { state }) };
  const { delivered, contexts } = await gateway.run(input as never, frames(inRun(IDS, events)));
  await gateway.close();
  const reasons = contexts.flatMap(({ decision }) =>
    decision?.allow === false ? [decision.reason] : [],
  );
  return { delivered, reasons };
}

const delta = (...operations: object[]) => ({ type: "STATE_DELTA", delta: operations });

const key = fc.constantFrom("a", "b", "c");
const path = fc.array(fc.oneof(key, fc.constantFrom("0", "1", "-")), {
  minLength: 1,
  maxLength: 3,
});
const value = fc.constantFrom(1, "x", [], [1], {}, { a: 1 }, { b: [1, 2] });
const operation = fc
  .tuple(fc.constantFrom("add", "remove", "replace", "test", "move", "copy"), path, path, value)
  .map(([op, at, from, value]) => ({
    op,
    path: `/${at.join("/")}`,
    ...(op === "move" || op === "copy" ? { from: `/${from.join("/")}` } : {}),
    ...(op === "add" || op === "replace" || op === "test" ? { value } : {}),
  }));
const patch = fc.array(operation, { minLength: 1, maxLength: 3 });

/** The patches that a client applies, one after the other; a test in wire compares this with the official client. */
function appliedBy(state: State, patches: readonly object[][]): boolean[] {
  let held = state as JsonValue;
  return patches.map((one) => {
    const result = applyJsonPatch(held, one as unknown as JsonPatch);
    if (result.applied) held = result.document;
    return result.applied;
  });
}

test("exactly those patches are delivered that apply to the client's state", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(key, value, { maxKeys: 3 }),
      fc.array(patch, { minLength: 1, maxLength: 4 }),
      async (state, patches) => {
        const { delivered } = await run(
          patches.map((one) => delta(...one)),
          state,
        );
        const shown = delivered.filter(({ type }) => type === "STATE_DELTA");
        const applied = appliedBy(state, patches);
        const expected = patches.filter((_, index) => applied[index] === true);
        expect(shown.map((event) => (event as { delta?: unknown }).delta)).toEqual(expected);
      },
    ),
    { numRuns: 150 },
  );
});

test("a patch that does not apply is blocked by its rule, and a policy may allow it", async () => {
  const broken = delta({ op: "replace", path: "/missing/x", value: 1 });
  const blocked = await run([broken]);
  expect(blocked.reasons).toEqual(["event breaks the protocol's order: state/patch-failed"]);
  const open = await run(
    [broken],
    {},
    `${POLICY}  ag_ui_order: { rules: { "state/patch-failed": allow } }\n`,
  );
  expect(open.reasons).toEqual([]);
});

test("a snapshot makes the state known, without its withheld parts", async () => {
  const { reasons } = await run([
    delta({ op: "replace", path: "/a", value: 1 }),
    { type: "STATE_SNAPSHOT", snapshot: { a: 0 } },
    delta({ op: "replace", path: "/a", value: 1 }),
    delta({ op: "test", path: "/a", value: 0 }),
  ]);
  expect(reasons).toHaveLength(2);
});

test("a patch that does not apply to its activity is blocked; for an unknown activity the gateway cannot tell", async () => {
  const patched = (messageId: string) => ({
    type: "ACTIVITY_DELTA",
    messageId,
    activityType: "plan",
    patch: [{ op: "replace", path: "/steps/3", value: 1 }],
  });
  const { reasons } = await run([
    { type: "ACTIVITY_SNAPSHOT", messageId: "v", activityType: "plan", content: { steps: [] } },
    patched("v"),
    patched("of-an-earlier-run"),
  ]);
  expect(reasons).toEqual(["event breaks the protocol's order: activity/patch-failed"]);
});
