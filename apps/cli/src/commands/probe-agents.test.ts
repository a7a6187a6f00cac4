import { loadConfig } from "@countersign/gateway";
import { sseFrame, startFakeAgent } from "@countersign/testkit";
import { expect, test } from "vitest";
import { probeAgents } from "./probe-agents.js";

test("what is said of an agent that does not answer names its address without name, password and query", async () => {
  const url = "http://someone:hunter2@127.0.0.1:9/agent?key=hidden";
  const { agents } = loadConfig(`agents: { a: { url: "${url}" } }\n`, {
    file: "countersign.yaml",
    environment: {},
  });
  const [asked] = await probeAgents(agents);
  expect(asked).toMatchObject({ name: "a", ok: false });
  expect(asked?.says).toContain("countersign doctor http://127.0.0.1:9/agent?… says more");
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
