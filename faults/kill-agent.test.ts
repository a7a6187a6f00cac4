import { expect, test } from "vitest";
import { startAgentChild } from "./harness/agent-child.js";
import { codeOf, finishRun, openRun } from "./harness/client.js";
import { startGateway } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();

test("an agent killed in mid-stream: every run ends in an error, none looks finished, and the next agent is found", async () => {
  const agent = await startAgentChild(scene);
  const gateway = await startGateway(scene, { agent: agent.url });
  const runs = Array.from({ length: 20 }, () => openRun(gateway.url));
  await until("every run streams", () => runs.every(({ events }) => events.length > 20));
  await agent.kill();
  await Promise.all(runs.map(({ ended }) => ended));
  for (const run of runs) {
    expect(run.isComplete).toBe(true);
    expect(codeOf(run)).toBe("AGENT_STREAM_TRUNCATED");
    expect(run.events.filter(({ type }) => type === "RUN_FINISHED")).toEqual([]);
    // Nothing in the middle is missing: the words the client has are the first ones, in order.
    const words = run.events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
    expect(words.map(({ delta }) => delta)).toEqual(words.map((_, index) => `word ${index + 1}`));
  }

  const down = await finishRun(gateway.url);
  expect([down.status, codeOf(down)]).toEqual([502, "ERR_UPSTREAM_UNREACHABLE"]);
  await startAgentChild(scene, agent.port);
  const after = await finishRun(gateway.url, { threadId: "short" });
  expect(after.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });

  expect(await gateway.stop()).toBe(0);
  expect(unreceipted(await checkLog(gateway.directory), [...runs, after])).toEqual([]);
});
