import { readFileSync } from "node:fs";
import { sseFrame } from "@countersign/testkit";
import type { FakeRequest } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { idsOf, inRun } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";

const STARTER = readFileSync(
  new URL("../../../policy/policies/starter.yaml", import.meta.url),
  "utf8",
);
// What `countersign init --for mastra` adds for a question and its answer.
const POLICY = STARTER.replace("mode: observe", "mode: enforce")
  .replace(
    "    interrupts:\n",
    '    interrupts:\n      - { match: "mastra:*", classification: display }\n',
  )
  .replace("    input:\n", "    input:\n      resume: { classification: display }\n");

let script: (request: FakeRequest) => object[];
let fixture: Fixture;
let threads = 0;
beforeAll(async () => {
  fixture = await startFixture((asked) => ({ pieces: script(asked).map(sseFrame) }), {
    policy: POLICY,
  });
});
afterAll(() => fixture.stop());

/** A question as @ag-ui/mastra 1.1.2 asks it: the call itself is not streamed. */
const suspended = (toolName: string | undefined): object => ({
  id: "r1::c1",
  reason: "mastra:tool_suspend",
  toolCallId: "c1",
  metadata: { mastra: { type: "mastra_suspend", toolName, args: { room: 4 }, runId: "r1" } },
});

/** Asks about a call that nobody saw, answers, and sends its result; whether that is shown, and the rule where not. */
async function resultAfter(
  toolName: string | undefined,
  { answer = { status: "resolved" } as object, result = "c1", tools = [] as string[] } = {},
): Promise<string> {
  const threadId = `t${++threads}`;
  const send = async (runId: string, fields: object): Promise<string> => {
    const response = await fetch(`${fixture.url}/agents/support`, {
      method: "POST",
      body: JSON.stringify({
        threadId,
        runId,
        protocolVersion: "1.0",
        messages: [],
        tools: tools.map((name) => ({ name, description: "", parameters: {} })),
        ...fields,
      }),
    });
    return response.text();
  };
  script = ({ body }) => {
    const [start, end] = inRun(idsOf(body), []);
    const outcome = { type: "interrupt", interrupts: [suspended(toolName)] };
    return [start as object, { ...end, outcome }];
  };
  expect(await send("r1", {})).toContain('"r1::c1"');
  const entries = fixture.recorder.drafts.length;
  const event = { type: "TOOL_CALL_RESULT", messageId: "m1", toolCallId: result, content: "done" };
  script = ({ body }) => inRun(idsOf(body), [event]);
  const shown = await send("r2", { resume: [{ interruptId: "r1::c1", ...answer }] });
  if (shown.includes('"TOOL_CALL_RESULT"') && shown.includes('"done"')) return "shown";
  const blocked = fixture.recorder.drafts.slice(entries).find(({ receipt }) => !receipt.allowed);
  return `${blocked?.rule ?? shown}`;
}

test("the result of a call that the person approved is classed with that call although its start was not streamed", async () => {
  expect(await resultAfter("book_room")).toBe("shown");
  expect(
    await resultAfter("book_room", { answer: { status: "resolved", payload: { approved: true } } }),
  ).toBe("shown");
});

test.each([
  ["a question that the person declined", { answer: { status: "cancelled" } }],
  ["an answer that says no", { answer: { status: "resolved", payload: { approved: false } } }],
  ["another call than the one that was asked about", { result: "c2" }],
])("the result stays one of an unknown call after %s", async (_what, options) => {
  expect(await resultAfter("book_room", options)).toBe("ag_ui.capability");
});

test("the name in a question opens nothing that a call of that name could not", async () => {
  expect(await resultAfter(undefined)).toBe("ag_ui.capability");
  expect(await resultAfter("run_shell")).toBe("ag_ui_tools.call");
  expect(await resultAfter("navigate_home")).toBe("ag_ui.capability");
  // The page's own tool: only the page answers it.
  expect(await resultAfter("pay", { tools: ["pay"] })).toBe("gateway/result");
  // Its arguments were never held against their schema.
  expect(await resultAfter("show_toast")).toBe("ag_ui.capability");
});
