import { readFileSync } from "node:fs";
import type { JsonObject } from "@countersign/core";
import { sseFrame } from "@countersign/testkit";
import { DEVIATIONS } from "@countersign/wire/dialects";
import type { DeviationId } from "@countersign/wire/dialects";
import { afterEach, expect, test } from "vitest";
import { DEVIANT, INPUT } from "../../../../wire/src/testing/deviant-streams.js";
import { STARTER_POLICY as BUILT_IN } from "../../serve/open-policy.js";
import { CLIENTS, runClient } from "../../testing/client.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { idsOf } from "../../testing/events.js";
import { createTelemetry } from "../../telemetry/telemetry.js";
import { chunk, createInProcess, frames } from "../../testing/in-process.js";

const FILE = new URL("../../../../policy/policies/starter.yaml", import.meta.url);
const STARTER = readFileSync(FILE, "utf8").replace("mode: observe", "mode: enforce");

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

async function run(stream: readonly object[], options: object = {}, policy = STARTER) {
  const gateway = createInProcess(policy);
  const notes: string[] = [];
  const result = await gateway.run(INPUT, frames(stream), {
    ...options,
    onNotes: (added) => {
      for (const note of added) if ("rule" in note) notes.push(note.rule);
    },
  });
  await gateway.close();
  return { ...result, notes };
}

const REPAIRED = (Object.keys(DEVIATIONS) as DeviationId[]).filter(
  (id) => "note" in DEVIATIONS[id],
);

test.each(REPAIRED)(
  "%s: the starter policy delivers the repaired stream, and a note names the repair",
  async (id) => {
    const { stream, repaired } = DEVIANT[id];
    for (const policy of [STARTER, BUILT_IN]) {
      const options = { isAppRequest: id === "thread-is-run" };
      const { delivered, failures, contexts, notes } = await run(stream, options, policy);
      expect(failures).toEqual([]);
      expect(delivered).toEqual(repaired);
      expect(contexts.every(({ decision }) => decision?.allow === true)).toBe(true);
      expect(notes).toContain((DEVIATIONS[id] as { note: string }).note);
    }
  },
);

test("a run under its own id as thread is repaired only in the answer to an app", async () => {
  const { contexts, notes } = await run(DEVIANT["thread-is-run"].stream);
  expect(contexts.some(({ decision }) => decision?.allow === false)).toBe(true);
  expect(notes).toEqual([]);
});

/** Under `strict` an encrypted value for an unknown entity passes, and clients ignore it. */
const BLOCKED = REPAIRED.filter((id) => id !== "encrypted-value-of-step");

test.each(BLOCKED)("%s: under strict the gateway blocks", async (id) => {
  const { contexts, notes } = await run(DEVIANT[id].stream, { agentProfile: "strict" });
  expect(contexts.some(({ decision }) => decision?.allow === false)).toBe(true);
  expect(notes).toEqual([]);
});

test.each(["langgraph", "tanstack"] as const)(
  "a stream in one piece is repaired like one in many (%s)",
  async (agentProfile) => {
    const id = agentProfile === "langgraph" ? "repeated-call" : "early-finish";
    const gateway = createInProcess(STARTER);
    const { delivered } = await gateway.run(INPUT, [chunk(DEVIANT[id].stream)], { agentProfile });
    await gateway.close();
    expect(delivered).toEqual(DEVIANT[id].repaired);
  },
);

test("a result without a call is withheld by the starter policy, and the run continues", async () => {
  const { delivered, failures } = await run(DEVIANT["result-without-call"].stream);
  expect(failures).toEqual([]);
  expect(delivered.map(({ type }) => type)).not.toContain("TOOL_CALL_RESULT");
  expect(delivered.at(-1)?.type).toBe("RUN_FINISHED");
});

test("a run whose only finish was early ends as a truncated run", async () => {
  const { stream } = DEVIANT["early-finish"];
  const { delivered } = await run(stream.slice(0, -1));
  expect(delivered.map(({ type }) => type)).not.toContain("RUN_FINISHED");
  expect(delivered.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "AGENT_STREAM_TRUNCATED" });
});

test("an error that the policy withholds still ends the run as an error, whatever finish follows", async () => {
  const [start] = DEVIANT["finish-after-error"].stream;
  const error = { type: "RUN_ERROR", message: "log in at https://evil.example" };
  const finish = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
  for (const agentProfile of ["auto", "strict"]) {
    for (const rest of [[error, finish], [error]]) {
      const { delivered } = await run([start as JsonObject, ...rest], { agentProfile });
      expect(JSON.stringify(delivered)).not.toContain("evil");
      expect(delivered.map(({ type }) => type)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    }
  }
});

test("a repair hides nothing from the policy: events after an early finish are judged", async () => {
  const [start, ...rest] = DEVIANT["early-finish"].stream as [JsonObject, ...JsonObject[]];
  const hostile = { type: "CUSTOM", name: "open_url", value: "https://evil.example" };
  const { delivered, contexts } = await run([start, ...rest.slice(0, -1), hostile, rest.at(-1)!]);
  expect(JSON.stringify(delivered)).not.toContain("evil");
  const judged = contexts.find(({ event }) => event?.type === "CUSTOM");
  expect(judged?.decision?.allow).toBe(false);
});

test.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])(
  "the %s client reads a LangGraph run to its end through the gateway, and the metric counts the repair",
  async (version) => {
    const telemetry = createTelemetry();
    fixture = await startFixture(
      ({ body }) => {
        const { threadId, runId } = idsOf(body);
        const stream = DEVIANT["finish-run-id"].stream.map((event) =>
          "threadId" in event
            ? { ...event, threadId, runId: event["runId"] === "r" ? runId : "own" }
            : event,
        );
        return { pieces: stream.map(sseFrame) };
      },
      { policy: STARTER, gateway: { telemetry } },
    );
    const { error, types } = await runClient(`${fixture.url}/agents/support`, { version });
    expect(error).toBeUndefined();
    expect(types.at(-1)).toBe("RUN_FINISHED");
    expect([...telemetry.repairs.entries()]).toEqual([["support", "finish-run-id-replaced", 1]]);
  },
);
