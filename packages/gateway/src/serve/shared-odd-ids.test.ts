import { sseFrame, startPostgres } from "@countersign/testkit";
import type { FakePiece, FakeScript, RunningPostgres } from "@countersign/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { idsOf, inRun, text } from "../testing/events.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";

let database: RunningPostgres;
let served: Served | undefined;
beforeAll(async () => {
  database = await startPostgres();
}, 60_000);
afterEach(() => served?.stop(), 30_000);
afterAll(() => database.stop(), 30_000);

/** Text that compresses badly. */
const LONG = Array.from({ length: 1024 }, (_, at) =>
  String.fromCodePoint(0x4e00 + ((at * 7919 + at * at * 31) % 20_000)),
).join("");

/** The agent's event on threads of these names. */
const ODD: Readonly<Record<string, object>> = {
  "custom-nul": { type: "CUSTOM", name: "a\u0000b", value: 1 },
  "activity-nul": {
    type: "ACTIVITY_SNAPSHOT",
    messageId: "a",
    activityType: "a\u0000b",
    content: {},
  },
  "activity-long": { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: LONG, content: {} },
};
const AGENT: FakeScript = (request) => ({
  pieces: (async function* (): AsyncGenerator<FakePiece> {
    const ids = idsOf(request.body);
    const odd = ODD[ids.threadId];
    if (odd !== undefined || ids.threadId !== "honest") {
      const events = odd === undefined ? text("m", "hello") : [odd];
      yield* inRun(ids, events).map((event) => sseFrame(event));
      return;
    }
    yield sseFrame({ type: "RUN_STARTED", ...ids });
    for (let part = 0; part < 60; part += 1) {
      for (const event of text(`m${part}`, "hello")) yield sseFrame(event);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    yield sseFrame({ type: "RUN_FINISHED", ...ids });
  })(),
});

async function post(gateway: Served, threadId: string, runId: string): Promise<string> {
  const answer = await fetch(`${gateway.running.dataUrl}/agents/support`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId, runId, messages: [] }),
  });
  return answer.text();
}

test.each([
  ["an agent's custom name with U+0000", "custom-nul", "r"],
  ["an agent's kind of activity with U+0000", "activity-nul", "r"],
  ["an agent's kind of activity of 1,024 Chinese characters", "activity-long", "r"],
  ["a browser's run id with U+0000", "t", "r\u0000"],
  ["a browser's run id of 1,024 Chinese characters", "t", LONG],
  ["a browser's thread id of 1,024 Chinese characters", LONG, "r"],
])(
  "%s ends no other run and leaves the gateway ready",
  async (name, thread, run) => {
    const origin = `${name.replaceAll(/\W+/gu, "-")}.example/log`;
    served = await startServed(AGENT, {
      config: `receipts: { store: "${database.url}", origin: "${origin}" }\n`,
    });
    const honest = post(served, "honest", "r");
    for (let tries = 0; tries < 8; tries += 1) {
      await post(served, thread, `${run}${tries}`);
      expect((await fetch(`${served.running.dataUrl}/readyz`)).status).toBe(200);
    }
    expect((await honest).trim().split("\n").at(-1)).toContain("RUN_FINISHED");
  },
  60_000,
);
