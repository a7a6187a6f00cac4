import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { idsOf, inRun, text } from "../../testing/events.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";

let fixture: Fixture;
afterEach(() => fixture.stop());

/** An agent that saves its work before it hangs up; a run named `open` does not finish before that. */
async function startSavingAgent(): Promise<void> {
  fixture = await startFixture((request) => ({
    pieces: (async function* () {
      const ids = idsOf(request.body);
      const events = inRun(ids, text(`m-${ids.runId}`, "x"));
      const early = ids.runId === "open" ? events.slice(0, -1) : events;
      for (const event of early) yield sseFrame(event);
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (const event of events.slice(early.length)) yield sseFrame(event);
    })(),
  }));
}

/** Requests runs one after another, each when the one before has sent `word`; resolves with the close. */
function askOn(runs: readonly string[], word: string): Promise<string> {
  const socket = new WebSocket(`${fixture.webSocketUrl}/agents/support/ws`);
  const left = [...runs];
  let finished = 0;
  const ask = (): void => {
    const runId = left.shift();
    if (runId === undefined) return;
    socket.send(JSON.stringify({ threadId: "t", runId, protocolVersion: "1.0", messages: [] }));
  };
  socket.once("open", ask);
  return new Promise((resolve) => {
    socket.on("close", (code) => resolve(`closed with ${code}`));
    socket.on("message", (data) => {
      const { type } = JSON.parse(String(data)) as { type: string };
      if (type === word) ask();
      if (type === "RUN_FINISHED") finished += 1;
      if (finished < runs.length) return;
      resolve("all finished");
      socket.close();
    });
  });
}

test("a client may start the next run once a run has finished, although the agent has not hung up yet", async () => {
  await startSavingAgent();
  expect(await askOn(["one", "two", "three"], "RUN_FINISHED")).toBe("all finished");
});

test("a second run while one is open is refused", async () => {
  await startSavingAgent();
  expect(await askOn(["open", "two"], "TEXT_MESSAGE_START")).toBe("closed with 1008");
});
