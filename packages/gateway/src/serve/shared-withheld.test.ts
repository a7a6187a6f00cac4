import type { RunningPostgres } from "@countersign/testkit";
import { sseFrame, startPostgres } from "@countersign/testkit";
import type { AgUiEvent } from "@countersign/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { idsOf } from "../testing/events.js";
import { CHAT_POLICY } from "../testing/fixture.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { sseEvents } from "../testing/transports.js";

let database: RunningPostgres | undefined;
let open: Served[];
beforeEach(() => {
  open = [];
  database = undefined;
});
afterEach(async () => {
  for (const served of open) await served.stop();
  await database?.stop();
}, 30_000);

const POLICY = `${CHAT_POLICY}  ag_ui_classify:
    tools:
      - { match: book, event_type: form_action, classification: submit }
`;
const call = { id: "c1", type: "function", function: { name: "book", arguments: "{}" } };
const ASSISTANT = { id: "m1", role: "assistant", content: "let me see" };

/** The first run makes a call; every other one shows the history with that call in it. */
function answerOf(ids: { threadId: string; runId: string }): object[] {
  const [kind] = ids.runId.split("-");
  const call1 = [
    { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "book" },
    { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "{}" },
    { type: "TOOL_CALL_END", toolCallId: "c1" },
  ];
  const list = [
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [{ ...ASSISTANT, toolCalls: [call] }],
    },
  ];
  return [
    { type: "RUN_STARTED", ...ids },
    ...(kind === "call" ? call1 : list),
    { type: "RUN_FINISHED", ...ids },
  ];
}

async function start(store: string, beside?: Served): Promise<Served> {
  const served = await startServed(
    ({ body }) => ({ pieces: answerOf(idsOf(body)).map(sseFrame) }),
    {
      policy: POLICY,
      config: `receipts: { store: "${store}" }\n`,
      ...(beside === undefined ? {} : { beside }),
    },
  );
  open.push(served);
  return served;
}

async function run(served: Served, session: string, threadId: string, runId: string) {
  const answer = await fetch(`${served.running.dataUrl}/agents/support?session=${session}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId, runId, messages: [] }),
  });
  const text = await answer.text();
  return { text, events: sseEvents(text) as unknown as AgUiEvent[] };
}

/** Allows calls in the session from now on. */
async function allow(served: Served, session: string): Promise<void> {
  const grant = { agent: "support", session_id: session, scopes: ["ui:*:*"] };
  const body = { ...grant, allow_unowned_session: true };
  const init = { method: "POST", body: JSON.stringify(body) };
  expect((await served.control("/v1/capabilities", init)).status).toBe(201);
}

/**
 * Everything that a conversation shows after one of its calls was withheld, at a gateway that would now forward that
 * call.
 */
async function expectWithheld(second: Served): Promise<void> {
  await allow(second, "s1");
  await allow(second, "s2");
  // The policy alone would now forward it: another conversation gets it.
  expect((await run(second, "s1", "t2", "list-1")).text).toContain('"name":"book"');
  const shown = await run(second, "s1", "t1", "list-2");
  expect(shown.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(shown.text).not.toContain("book");
  expect(shown.events).toContainEqual({ type: "MESSAGES_SNAPSHOT", messages: [ASSISTANT] });
  // Streaming it again does not help either.
  expect((await run(second, "s1", "t1", "call-3")).text).not.toContain("TOOL_CALL_START");
  // A block in one session withholds nothing in another one with the same thread name.
  expect((await run(second, "s2", "t1", "list-4")).text).toContain('"name":"book"');
}

test("an item withheld at one gateway stays withheld when the conversation continues at another", async () => {
  database = await startPostgres();
  const { url } = database;
  const first = await start(url);
  const blocked = await run(first, "s1", "t1", "call-1");
  expect(blocked.text).not.toContain("TOOL_CALL_START");
  await expectWithheld(await start(url, first));
}, 60_000);

test("a withheld item stays withheld after a restart of the only gateway", async () => {
  const first = await start("sqlite:receipts");
  const blocked = await run(first, "s1", "t1", "call-1");
  expect(blocked.text).not.toContain("TOOL_CALL_START");
  await first.running.close();
  await expectWithheld(await start(`sqlite:${first.folder}/receipts`, first));
}, 60_000);
