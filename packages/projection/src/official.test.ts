import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createSafeEvent } from "./safe/event.js";
import { projectAll } from "./testing/drive.js";
import { brokenRules, readWithOfficialClient } from "./testing/official-client.js";
import { ABORTS, callItem, everyKind, row, transcript, usage } from "./testing/sample-ledger.js";

// The client reports what it tolerates to the console; our stream gives it nothing to report.
const warnings = vi.fn();
beforeAll(() => {
  vi.spyOn(console, "warn").mockImplementation(warnings);
});
afterAll(() => {
  vi.restoreAllMocks();
});

test("the official client reads every kind of event without a warning", async () => {
  const { frames } = projectAll(everyKind());
  expect(brokenRules(frames)).toEqual([]);
  const { failure, events, messages } = await readWithOfficialClient(frames);
  expect(failure).toBeUndefined();
  expect(warnings).not.toHaveBeenCalled();
  expect(events).toHaveLength(frames.length);
  expect(messages.map(({ role }) => role)).toContain("assistant");
});

test("the official client holds the interrupt open until it is answered", async () => {
  const { frames } = projectAll(everyKind().slice(0, 15));
  const { failure, interrupts } = await readWithOfficialClient(frames);
  expect(failure).toBeUndefined();
  expect(interrupts).toMatchObject([{ id: "interrupt-1", reason: "tool_call" }]);
});

test.each(ABORTS)("the official client reads a run aborted by %s", async (kind) => {
  const rows = [
    ...transcript().slice(0, 4),
    row(9, `agent.aborted.${kind}`, { runId: 1, tokensUsed: 1 }),
  ];
  const { frames } = projectAll(rows);
  expect(brokenRules(frames)).toEqual([]);
  const { failure, events } = await readWithOfficialClient(frames);
  expect(failure).toBeUndefined();
  expect(events).toHaveLength(frames.length);
});

const SHOP = "@shop/orders";
const run = fc.constantFrom(1, 1, 1, 2, 4);
const call = fc.constantFrom("c1", "c2", "c3");
const turn = fc.record({ id: run, index: fc.nat(2) });
const item = fc.oneof(
  fc.record({ type: fc.constant("message"), text: fc.string({ unit: "binary", maxLength: 8 }) }),
  fc.record(
    { type: fc.constant("reasoning"), summaryRef: fc.string() },
    { requiredKeys: ["type"] },
  ),
  call.map((id) => callItem(id, "tool", { a: 1 })),
  fc.record({ type: fc.constant("tool_result"), callId: call, content: fc.string() }),
  fc.constant({ type: "refusal", reason: "no" }),
  fc.anything(),
);
const terminal = { final: true, output: "x", outputKind: "text", tokensUsed: 1 };
const tool = { name: "tool", args: {}, execution: {}, result: 1, claim: {} };

const response = fc.tuple(
  fc.constant("llm.response"),
  fc.record({ turn, items: fc.array(item, { maxLength: 4 }), usage: fc.constant(usage) }),
);

/** Any event of any owner in any order, a tenth of them broken. */
const arbitraryRow = fc
  .oneof(
    fc.tuple(fc.constant("agent.run.started"), fc.constant({ intent: "x" })),
    response,
    response,
    response,
    response,
    fc.tuple(
      fc.constantFrom("tool.executed", "tool.rejected"),
      fc.record({ runId: run, toolCallId: call }).map((ids) => ({ ...tool, ...ids })),
    ),
    fc.tuple(
      fc.constant("agent.run.interrupted"),
      fc.record({ runId: run, turn, interruptId: call }).map((facts) => ({
        reason: "approval_required",
        tokensUsed: 0,
        ...facts,
      })),
    ),
    fc.tuple(
      fc.constant("agent.run.resumed"),
      fc.record({ runId: run, turn, interruptId: call }).map((facts) => ({
        ...facts,
        resumedAtEventId: 1,
      })),
    ),
    fc.tuple(
      fc.constant("agent.run.completed"),
      run.map((runId) => ({ ...terminal, runId })),
    ),
    fc.tuple(
      fc.constantFrom(...ABORTS.map((kind) => `agent.aborted.${kind}`)),
      run.map((runId) => ({ runId, tokensUsed: 0 })),
    ),
    fc.tuple(
      fc.constantFrom("shop.order", "agent.run.completed"),
      fc.jsonValue(),
      fc.constant(SHOP),
    ),
    fc.tuple(fc.constantFrom("llm.response", "chat.ingested", "nonsense"), fc.anything()),
  )
  .map(([kind, payload, owner]) => ({ kind, payload, owner }));

const owners = [
  {
    factOwnerRef: SHOP,
    projectSafeEvent: (event: Parameters<typeof createSafeEvent>[0]) =>
      createSafeEvent(event, event.payload),
  },
];

test("for any ledger the frames keep every rule of order and the official client reads them all", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryRow, { maxLength: 25 }), async (events) => {
      const rows = [{ kind: "agent.run.started", payload: {}, owner: undefined }, ...events].map(
        ({ kind, payload, owner }, index) => row(index + 1, kind, payload, owner),
      );
      const { frames } = projectAll(rows, { owners, clientTools: [] });
      expect(brokenRules(frames)).toEqual([]);
      const { failure, events: read } = await readWithOfficialClient(frames);
      expect(failure).toBeUndefined();
      expect(read).toHaveLength(frames.length);
    }),
    { numRuns: 150 },
  );
  expect(warnings).not.toHaveBeenCalled();
});
