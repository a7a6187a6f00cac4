import { loadConfig } from "@countersign/gateway";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import { DEVIATIONS, PROFILES } from "@countersign/wire/dialects";
import type { DeviationId, ProfileRow } from "@countersign/wire/dialects";
import { expect, test } from "vitest";
import { DEVIANT } from "../../../../packages/wire/src/testing/deviant-streams.js";
import { runProgram } from "../testing/run-program.js";
import { probeAgents } from "./probe-agents.js";

test("what is said of an agent that does not answer names its address without name, password and query", async () => {
  const url = "http://someone:hunter2@127.0.0.1:9/agent?key=hidden";
  const { agents } = loadConfig(`agents: { a: { url: "${url}" } }\n`, {
    file: "countersign.yaml",
    environment: {},
  });
  const [asked] = await probeAgents(agents);
  expect(asked).toMatchObject({ name: "a", ok: false });
  expect(asked?.says).toContain("Fix: run countersign doctor http://127.0.0.1:9/agent?…");
  for (const secret of ["someone", "hunter2", "hidden"]) expect(asked?.says).not.toContain(secret);
});

test("an agent whose first word is an error has not answered, and what it said is told", async () => {
  const failing = await startFakeAgent(({ body }) => {
    const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
    return {
      pieces: [
        { type: "RUN_STARTED", threadId, runId },
        { type: "RUN_ERROR", message: "tools: required", code: "400" },
      ].map(sseFrame),
    };
  });
  const { agents } = loadConfig(`agents: { a: { url: "${failing.url}" } }\n`, {
    file: "countersign.yaml",
    environment: {},
  });
  const [asked] = await probeAgents(agents);
  expect(asked).toMatchObject({ name: "a", ok: false });
  expect(asked?.says).toContain("before it showed anything: the agent says: tools: required (400)");
  expect(failing.requests).toHaveLength(1);
  await failing.stop();
});

const REPAIRED = (Object.keys(DEVIATIONS) as DeviationId[]).filter(
  (id) => "note" in DEVIATIONS[id],
);

/** The stream of a deviation under the ids of the request. */
function answer(id: DeviationId, body: string): object[] {
  const { threadId = "t", runId = "r" } = (body === "" ? {} : JSON.parse(body)) as {
    threadId?: string;
    runId?: string;
  };
  const ids = new Map<unknown, string>([
    ["t", threadId],
    ["r", runId],
  ]);
  return DEVIANT[id].stream.map((event) => ({
    ...event,
    ...(event["threadId"] === undefined ? {} : { threadId: ids.get(event["threadId"]) }),
    ...(event["runId"] === undefined ? {} : { runId: ids.get(event["runId"]) ?? event["runId"] }),
  }));
}

test.each(REPAIRED)("%s, which the gateway repairs, leaves the agent ready", async (id) => {
  const agent = await startFakeAgent(({ body }) => ({ pieces: answer(id, body).map(sseFrame) }));
  const profiles = Object.entries(PROFILES as Readonly<Record<string, readonly ProfileRow[]>>)
    .filter(([, rows]) => rows.some(({ deviation }) => deviation === id))
    .map(([name]) => name);
  try {
    for (const profile of ["auto", ...profiles]) {
      const { agents } = loadConfig(`agents: { a: { url: "${agent.url}", profile: ${profile} } }`, {
        file: "countersign.yaml",
        environment: {},
      });
      const [asked] = await probeAgents(agents);
      expect(asked, asked?.says).toMatchObject({ ok: true });
    }
  } finally {
    await agent.stop();
  }
});

test("the finish id of LangGraph is a note for serve --ask and doctor, and an error under strict", async () => {
  const agent = await startFakeAgent(({ body }) => ({
    pieces: answer("finish-run-id", body).map(sseFrame),
  }));
  const config = (profile: string): ReturnType<typeof loadConfig>["agents"] =>
    loadConfig(`agents: { a: { url: "${agent.url}", profile: ${profile} } }`, {
      file: "countersign.yaml",
      environment: {},
    }).agents;
  try {
    const [repaired] = await probeAgents(config("auto"));
    expect(repaired?.says).toContain("repaired by the profile langgraph");
    const [strict] = await probeAgents(config("strict"));
    expect(strict).toMatchObject({ ok: false });
    const examined = await runProgram("doctor", agent.url);
    expect(examined.code).toBe(0);
    expect(examined.out).toContain("repaired by the profile langgraph");
    expect((await runProgram("doctor", agent.url, "--profile", "strict")).code).toBe(1);
  } finally {
    await agent.stop();
  }
});
