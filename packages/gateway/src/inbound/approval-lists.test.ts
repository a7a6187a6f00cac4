import { sseFrame } from "@countersign/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { call, idsOf, inRun } from "../testing/events.js";
import { OPEN_POLICY, startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";

const PAY = '{"amount":5}';
let fixture: Fixture;
let events: readonly object[];
let outcome: object | undefined;
let runs = 0;

beforeEach(async () => {
  outcome = undefined;
  fixture = await startFixture(
    ({ body }) => {
      const all = inRun(idsOf(body), events);
      const end = outcome === undefined ? all.at(-1) : { ...all.at(-1), outcome };
      const isCut = events.at(-1) === CUT;
      const pieces = isCut ? all.slice(0, -2) : [...all.slice(0, -1), end];
      return { pieces: pieces.map((event) => sseFrame(event as object)) };
    },
    { policy: OPEN_POLICY },
  );
});
afterEach(() => fixture.stop());

/** Stands for the agent closing the connection. */
const CUT = {};

async function run(said: readonly object[], fields: object = {}): Promise<string> {
  events = said;
  runs += 1;
  const base = { threadId: "t", runId: `r${runs}`, protocolVersion: "1.0", messages: [] };
  const response = await fetch(`${fixture.url}/agents/support`, {
    method: "POST",
    body: JSON.stringify({ ...base, ...fields }),
  });
  return response.text();
}

/** The agent asks about a payment of 5, and the person approves. */
async function approved(before: readonly object[] = []): Promise<object> {
  outcome = { type: "interrupt", interrupts: [{ id: "i", reason: "tool_call", toolCallId: "c" }] };
  expect(await run([...before, ...call("c", "pay", PAY)])).toContain("interrupt");
  outcome = undefined;
  return { resume: [{ interruptId: "i", status: "resolved" }] };
}

const list = (id: string, args: string): object => ({
  type: "MESSAGES_SNAPSHOT",
  messages: [
    {
      id: "m",
      role: "assistant",
      toolCalls: [{ id, type: "function", function: { name: "pay", arguments: args } }],
    },
  ],
});

// Every client parses the first as 5000; the gateway cannot parse the last two, but a client might.
test.each(['{"amount":5,"amount":5000}', '{"amount":5000', '{"amount":5000,}'])(
  "an approved call cannot be listed with arguments that only a client can read: %s",
  async (args) => {
    const resume = await approved();
    expect(await run([list("c", args)], resume)).not.toContain("5000");
  },
);

test("a call that never became complete cannot become another one after an approval", async () => {
  const open = call("old", "pay", '{"amount":').slice(0, 2);
  expect(await run([...open, CUT])).toContain("AGENT_STREAM_TRUNCATED");
  const resume = await approved();
  expect(await run([list("old", '{"amount":5000}')], resume)).not.toContain("5000");
});

test("a call that was delivered before the approval may be listed unchanged, JSON or not", async () => {
  const broken = '{"amount":5000,}';
  const resume = await approved(call("old", "pay", broken));
  const answer = await run([list("c", '{ "amount": 5 }'), list("old", broken)], resume);
  expect(answer.match(/"toolCalls"/g)).toHaveLength(2);
});
