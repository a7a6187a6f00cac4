import { readFileSync } from "node:fs";
import { SmallMap } from "@countersign/core";
import { sseFrame } from "@countersign/testkit";
import type { FakeRequest } from "@countersign/testkit";
import type { Interrupt } from "@countersign/wire";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, idsOf, inRun } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { sseEvents } from "../testing/transports.js";
import { interruptShown } from "../thread/thread-state.js";

const STARTER = readFileSync(
  new URL("../../../policy/policies/starter.yaml", import.meta.url),
  "utf8",
);
// The policy lines that `countersign init --for mastra` adds for a question and its answer.
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

/** A question as @ag-ui/mastra 1.1.2 sends it: the call itself is not streamed. */
const suspended = (toolName: string | undefined, fields: object): object => ({
  id: "r1::c1",
  reason: "mastra:tool_suspend",
  toolCallId: "c1",
  metadata: { mastra: { type: "mastra_suspend", toolName, args: { room: 4 }, runId: "r1" } },
  ...fields,
});

const YES = { status: "resolved" };

type Options = {
  /** `undefined`: the request has no answer. */
  readonly answer?: object | undefined;
  readonly tools?: string[];
  readonly fields?: object;
  /** Further members of the request. */
  readonly request?: object;
};

/** Asks about a call that was not streamed and answers; returns the delivered events of the next run, and the rules that blocked. */
async function after(
  toolName: string | undefined,
  events: readonly object[],
  { tools = [] as string[], fields = {} as object, request = {} as object, ...given }: Options = {},
): Promise<{ shown: string; rules: (string | undefined)[] }> {
  const answer = "answer" in given ? given.answer : YES;
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
    const outcome = { type: "interrupt", interrupts: [suspended(toolName, fields)] };
    return [start as object, { ...end, outcome }];
  };
  expect(await send("r1", {})).toContain('"r1::c1"');
  const entries = fixture.recorder.drafts.length;
  script = ({ body }) => inRun(idsOf(body), [...events]);
  const resume = answer === undefined ? {} : { resume: [{ interruptId: "r1::c1", ...answer }] };
  const shown = await send("r2", { ...resume, ...request });
  const blocked = fixture.recorder.drafts.slice(entries).filter(({ receipt }) => !receipt.allowed);
  return { shown, rules: blocked.map(({ rule }) => rule) };
}

/** Returns whether the result of the call is delivered, or the rule that blocks it. */
async function resultAfter(
  toolName: string | undefined,
  { result = "c1", ...options }: Options & { result?: string } = {},
): Promise<string> {
  const event = { type: "TOOL_CALL_RESULT", messageId: "m1", toolCallId: result, content: "done" };
  const { shown, rules } = await after(toolName, [event], options);
  if (shown.includes('"TOOL_CALL_RESULT"') && shown.includes('"done"')) return "shown";
  return `${rules[0] ?? shown}`;
}

/** The ids of the delivered calls. */
const callsOf = (shown: string): string[] =>
  sseEvents(shown)
    .filter(({ type }) => type === "TOOL_CALL_START")
    .map(({ toolCallId }) => `${toolCallId as string}`);

/** Returns the ids of the delivered calls. */
async function callsAfter(
  answer: object,
  ...calls: readonly [id: string, tool: string][]
): Promise<string[]> {
  const events = calls.flatMap(([id, tool]) => call(id, tool, '{"room":4}'));
  const { shown } = await after("book_room", events, { answer });
  return callsOf(shown);
}

test("a question that names its tool binds the tool: only the approved call is delivered, and no declined one", async () => {
  const no = { status: "resolved", payload: { approved: false } };
  for (const other of ["book_room", "bookRoom", "B00k_room"]) {
    expect(await callsAfter(YES, ["c1", "book_room"], ["c2", other])).toEqual(["c1"]);
    expect(await callsAfter(YES, ["c2", other], ["c1", "book_room"])).toEqual(["c1"]);
    expect(await callsAfter(no, ["c1", "book_room"], ["c2", other])).toEqual([]);
    expect(await callsAfter({ status: "cancelled" }, ["c2", other])).toEqual([]);
  }
  expect(await callsAfter(YES, ["c3", "look_up"], ["c1", "book_room"])).toEqual(["c3", "c1"]);
  expect(await callsAfter(no, ["c3", "look_up"])).toEqual(["c3"]);
});

const NAMING: readonly [string, object][] = [
  ["in two places", { metadata: { toolName: "look_up", mastra: { toolName: "book_room" } } }],
  ["deeper", { metadata: { a: [{ b: { tool_name: "book_room" } }] } }],
  ["in a list", { metadata: { toolName: ["look_up", "book_room"] } }],
  ["without a call", { toolCallId: undefined, metadata: { toolName: "book_room" } }],
  [
    "among many",
    {
      metadata: {
        toolName: "book_room",
        others: Array.from({ length: 100 }, (_, index) => ({ toolName: `tool_${index}` })),
      },
    },
  ],
];

test.each(NAMING)("a declined question binds the tool that it names %s", async (_, fields) => {
  const events = call("c2", "book_room", "{}");
  const { shown, rules } = await after(undefined, events, {
    answer: { status: "cancelled" },
    fields,
  });
  expect(callsOf(shown)).toEqual([]);
  expect(rules[0]).toBe("gateway/approval");
});

test("an approval of a question that names two tools lets no call of either through", async () => {
  const fields = NAMING[0]?.[1] ?? {};
  for (const tool of ["book_room", "look_up"]) {
    const { shown } = await after(undefined, call("c1", tool, "{}"), { fields });
    expect(callsOf(shown)).toEqual([]);
  }
});

test("an approval of a question that names a tool and no call lets calls of the tool through", async () => {
  const fields = { toolCallId: undefined, metadata: { toolName: "book_room" } };
  const { shown } = await after(undefined, call("c2", "book_room", "{}"), { fields });
  expect(callsOf(shown)).toEqual(["c2"]);
});

test("a question names the same tools wherever its metadata has them", () => {
  const metadata = fc
    .tuple(fc.jsonValue({ maxDepth: 2 }), fc.array(fc.constantFrom("a", "list", "mastra")))
    .map(([value, path]) => {
      const named: object = { toolName: "pay", value };
      return path.reduce((inner, key) => (key === "list" ? [inner] : { [key]: inner }), named);
    })
    .map((inner) => ({ inner, toolName: "look_up" }));
  fc.assert(
    fc.property(metadata, (value) => {
      const interrupt = { id: "i", reason: "x", toolCallId: "c1", metadata: value };
      const { toolNames = [] } = interruptShown(interrupt as Interrupt, "r1", new SmallMap());
      expect(toolNames).toEqual(expect.arrayContaining(["look_up", "pay"]));
    }),
  );
});

test("the result of an approved call has the class of that call although its start was not streamed", async () => {
  expect(await resultAfter("book_room")).toBe("shown");
  expect(
    await resultAfter("book_room", { answer: { status: "resolved", payload: { approved: true } } }),
  ).toBe("shown");
});

test.each([
  ["a question that the person declined", { status: "cancelled" }],
  ["an answer that says no", { status: "resolved", payload: { approved: false } }],
  ["no answer of an older client", undefined],
])("the result of the call says that it was declined after %s", async (_what, answer) => {
  const older = {
    protocolVersion: undefined,
    messages: [{ id: "u", role: "user", content: "no" }],
  };
  const options = answer === undefined ? { answer, request: older } : { answer };
  expect(await resultAfter("book_room", options)).toBe("shown");
  expect(await resultAfter("run_shell", options)).toBe("ag_ui_tools.call");
  expect(await resultAfter("show_toast", options)).toBe("ag_ui.capability");
});

test("the result of a call that the person has not answered about, or of another call, stays one of an unknown call", async () => {
  expect(await resultAfter("book_room", { result: "c2" })).toBe("ag_ui.capability");
  expect(await resultAfter("book_room", { answer: undefined })).toBe("ag_ui.capability");
});

test("the name in a question allows nothing that a call of that name could not", async () => {
  expect(await resultAfter(undefined)).toBe("ag_ui.capability");
  expect(await resultAfter("run_shell")).toBe("ag_ui_tools.call");
  expect(await resultAfter("navigate_home")).toBe("ag_ui.capability");
  // The page's own tool: only the page sends its result.
  expect(await resultAfter("pay", { tools: ["pay"] })).toBe("gateway/result");
  // Its arguments were never validated against their schema.
  expect(await resultAfter("show_toast")).toBe("ag_ui.capability");
});
