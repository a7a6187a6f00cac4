import { expect, test } from "vitest";
import { entry } from "../testing/decisions.js";
import { recordingOf } from "./recording.js";
import { stepsOf } from "./steps.js";

const CHAT = { component_type: "chat-window" };
const CALL = { event_type: "lifecycle", target: CHAT } as const;
const BLOCKED = { rule: "ag_ui_tools", tool: "pay", path: "/amount" };

const ENTRIES = [
  entry(0, { event_type: "lifecycle" }, { direction: "inbound" }),
  entry(1, { event_type: "lifecycle" }),
  entry(2, { target: CHAT }),
  entry(3, { target: CHAT }),
  entry(4, { target: CHAT }),
  entry(5, { ...CALL, allowed: false }, BLOCKED),
  entry(6, { ...CALL, allowed: false }, BLOCKED),
  entry(7, { target: CHAT }),
];

const PAYLOADS = new Map<number, unknown>([
  [
    0,
    {
      messages: [
        { role: "user", content: "old" },
        { role: "user", content: [{ type: "text", text: "Pay me" }, { type: "image" }] },
      ],
    },
  ],
  [1, { type: "RUN_STARTED", threadId: "t", runId: "r" }],
  [2, { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" }],
  [3, { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "<b>Hel" }],
  [4, { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "lo" }],
  [5, { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "pay" }],
  [6, { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"amount":9}' }],
  [7, { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "!" }],
]);

test("with payloads, a step reads as the person saw it, and a withheld one has what was withheld", () => {
  const steps = stepsOf(ENTRIES, PAYLOADS);
  expect(steps.map(({ kind, verdict, text }) => [kind, verdict, text])).toEqual([
    ["request", "allowed", "Pay me\n[image]"],
    ["lifecycle", "allowed", undefined],
    ["text", "allowed", "<b>Hello!"],
    ["tools", "blocked", expect.stringContaining('{"amount":9}')],
  ]);
  expect(steps[3]).toMatchObject({ name: "pay", place: "/amount", rule: "ag_ui_tools" });
  expect(steps.flatMap(({ entries }) => entries)).toHaveLength(ENTRIES.length);
});

test("without payloads, the receipts give the structure and no content", () => {
  const steps = stepsOf(ENTRIES, new Map());
  expect(steps.map(({ kind, entries, text }) => [kind, entries.length, text])).toEqual([
    ["request", 1, undefined],
    ["lifecycle", 1, undefined],
    ["text", 3, undefined],
    ["tools", 2, undefined],
    ["text", 1, undefined],
  ]);
});

test("a payload that is not an event, or too much for the reducer, loses no step", () => {
  for (const odd of [null, 7, "x", [], { type: "NOPE" }, { type: "TEXT_MESSAGE_CHUNK" }, {}]) {
    const steps = stepsOf(ENTRIES, new Map([...PAYLOADS, [3, odd]]));
    expect(steps.flatMap(({ entries }) => entries)).toHaveLength(ENTRIES.length);
  }
});

test("a recording has the request and what the client got, in the lines that readers of recordings know", () => {
  const lines = recordingOf("r", ENTRIES, PAYLOADS)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  const [header, request, ...events] = lines;
  expect(header).toMatchObject({
    kind: "header",
    schemaVersion: 1,
    transport: "sse",
    redacted: [],
  });
  expect(request).toMatchObject({ kind: "request", connId: "r", tMs: 0, input: PAYLOADS.get(0) });
  expect(events.map(({ kind, seq, event }) => [kind, seq, event])).toEqual(
    [1, 2, 3, 4, 7].map((at, index) => ["event", index, PAYLOADS.get(at)]),
  );
});
