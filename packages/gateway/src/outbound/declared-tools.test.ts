import { afterAll, beforeAll, expect, test } from "vitest";
import { call, idsOf, inRun } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { AGENT_TRANSPORTS, post, sseEvents } from "../testing/transports.js";

/** A tool that a page declared once is the page's on that thread, whatever tools a later stream declares. */
const POLICY = `hushspec: "0.1.0"
name: declared
on_block: drop
rules:
  ag_ui:
    allow_display_without_capability: true
    restricted_classifications: [mutate]
  ag_ui_inbound: { default: allow, allow_classifications: [display, mutate, submit] }
  ag_ui_request:
    tools: { server_tools: [search] }
`;
const PICK = { name: "pick_file", description: "", parameters: { type: "object" } };
const callsOf = (runId: string): object[] =>
  ["pick_file", "search", "other"].flatMap((name) => {
    const id = `${runId}-${name}`;
    const result = { type: "TOOL_CALL_RESULT", messageId: `r-${id}`, toolCallId: id, content: "x" };
    return [...call(id, name, "{}"), result];
  });

const { target, answer = () => ({ pieces: [] }) } = AGENT_TRANSPORTS["POST + SSE"] ?? {
  target: {},
};
let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture(
    ({ body }) => {
      const ids = idsOf(body);
      return answer(inRun(ids, callsOf(ids.runId)));
    },
    { policy: POLICY, target },
  );
});
afterAll(async () => fixture.stop());

let count = 0;
async function ask(threadId: string, tools: object[]): Promise<string[]> {
  const runId = `r${(count += 1)}`;
  const messages = [{ id: `u-${runId}`, role: "user", content: "Hi." }];
  const input = { threadId, runId, protocolVersion: "1.0", tools, messages };
  const response = await post(`${fixture.url}/agents/support?session=${threadId}`, input);
  return calledIn(sseEvents(await response.text()));
}

function calledIn(events: readonly object[]): string[] {
  return (events as { type: string; toolCallId?: string }[])
    .filter(({ type }) => type === "TOOL_CALL_START" || type === "TOOL_CALL_RESULT")
    .map(
      ({ type, toolCallId }) =>
        `${type === "TOOL_CALL_START" ? "call" : "answer"} ${toolCallId?.split("-")[1]}`,
    );
}

const AGENTS = ["call search", "answer search", "call other", "answer other"];

test("a declared tool stays the client's when a later request does not declare it", async () => {
  expect(await ask("t1", [PICK])).toEqual(AGENTS);
  expect(await ask("t1", [])).toEqual(AGENTS);
});

test("a request that declares its tools takes no call from the agent's own tools", async () => {
  expect(await ask("t2", [])).toContain("answer pick_file");
});

test.each(["", "&dialect=1.0"])(
  "a declared tool stays the client's on a stream without an input%s, and the agent's own stay the agent's",
  async (query) => {
    const threadId = `t3${query.length}`;
    await ask(threadId, [PICK]);
    const url = `${fixture.url}/ag-ui/stream?session=${threadId}&run=g${(count += 1)}${query}`;
    expect(calledIn(sseEvents(await (await fetch(url)).text()))).toEqual(AGENTS);
  },
);
