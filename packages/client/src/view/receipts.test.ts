import type { JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import type { AgentStoreOptions } from "../store/agent-store.js";
import { settle } from "../testing/fake-time.js";
import { createHarness, runOf, textOf } from "../testing/harness.js";
import type { ReceiptContext } from "./receipts.js";

const { started, finished } = runOf(1);
const [open, content, close] = textOf("a", "x") as [object, object, object];

function receipt(value: JsonValue = "good"): object {
  return { type: "CUSTOM", name: "countersign.receipt", value };
}

function ahead(value: JsonValue = "good"): object {
  return { type: "CUSTOM", name: "countersign.receipt_ahead", value };
}

const isGood = (value: JsonValue): boolean => value === "good";

/** A run over these events, to its end, with every receipt judged. */
async function afterRun(
  events: readonly object[],
  options: Partial<AgentStoreOptions> = { verifyReceipt: isGood },
) {
  const { store, transport } = createHarness(options);
  const ended = store.send("hello");
  await settle();
  transport.last().send(...events);
  await ended;
  await settle();
  return store.getSnapshot();
}

/** Each event with its receipt where a gateway puts it. */
const WHOLE = [started, receipt(), open, receipt(), content, receipt(), close, receipt()];
const END = [ahead(), finished];

test("each receipt is verified once, beside the event that it is about, that of the end ahead of it", async () => {
  const seen: [JsonValue, ReceiptContext][] = [];
  const { status, receipts, messages } = await afterRun([...WHOLE, ...END], {
    verifyReceipt: (value, context) => {
      seen.push([value, context]);
      return true;
    },
  });
  expect(seen.map(([, { event }]) => event.type)).toEqual([
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
  expect(seen[1]?.[1]).toEqual({ event: open, threadId: "thread", runId: "run-1" });
  expect(status).toBe("done");
  expect(receipts).toEqual({ verified: 5, refused: 0, waiting: 0, missing: 0 });
  // They are not part of the conversation.
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
});

test("events without a receipt are counted, the end of the run included", async () => {
  const { receipts } = await afterRun([
    started,
    receipt(),
    open,
    content,
    receipt(),
    close,
    finished,
  ]);
  expect(receipts).toEqual({ verified: 2, refused: 0, waiting: 0, missing: 3 });
});

test("where receipts are expected and none come, everything is missing", async () => {
  const { receipts } = await afterRun([started, open, content, close, finished]);
  expect(receipts).toEqual({ verified: 0, refused: 0, waiting: 0, missing: 5 });
});

test("a second receipt of an event, and one beside nothing, are refused without asking", async () => {
  const twice = await afterRun([started, receipt(), receipt(), ...END]);
  expect(twice.receipts).toEqual({ verified: 2, refused: 1, waiting: 0, missing: 0 });
  const both = await afterRun([started, receipt(), ahead(), ahead(), finished]);
  expect(both.receipts).toEqual({ verified: 2, refused: 1, waiting: 0, missing: 0 });
});

test("what a gateway tells about its blocks needs no receipt and takes none away", async () => {
  const notice = { type: "CUSTOM", name: "countersign.blocked", value: {} };
  const { receipts } = await afterRun([
    started,
    receipt(),
    notice,
    open,
    receipt(),
    notice,
    ...END,
  ]);
  expect(receipts).toEqual({ verified: 3, refused: 0, waiting: 0, missing: 0 });
});

test.each([
  [
    "throws",
    () => {
      throw new Error("broken");
    },
  ],
  ["rejects", () => Promise.reject(new Error("broken"))],
  ["answers with something else than true", () => "yes" as unknown as boolean],
])("a verifier that %s has refused", async (_, verifyReceipt) => {
  const { receipts } = await afterRun([started, receipt(), ...END], { verifyReceipt });
  expect(receipts).toEqual({ verified: 0, refused: 2, waiting: 0, missing: 0 });
});

const STRICT = { verifyReceipt: isGood, onRefusedReceipt: "fail" } as const;

test("a refused receipt ends the run where that was asked for", async () => {
  const { store, transport } = createHarness(STRICT);
  const ended = store.send("hello");
  await settle();
  transport.last().send(started, receipt("bad"));
  expect((await ended).problem).toMatchObject({ code: "ERR_CLIENT_RECEIPT" });
  expect(transport.last().request.signal.aborted).toBe(true);
});

test.each([
  ["in its middle", [started, receipt(), open, content]],
  ["at its end", [...WHOLE, finished]],
  ["from its beginning", [started, open]],
])("so does a missing one, %s", async (_, events) => {
  const { status, problem } = await afterRun(events, STRICT);
  expect(status).toBe("failed");
  expect(problem).toMatchObject({ code: "ERR_CLIENT_RECEIPT" });
});

test("an error without a receipt keeps its own words: the run has failed by it", async () => {
  const error = { type: "RUN_ERROR", message: "ended by policy", code: "BLOCKED_BY_POLICY" };
  const { status, problem, receipts } = await afterRun([...WHOLE, error], STRICT);
  expect(status).toBe("failed");
  expect(problem).toMatchObject({ code: "BLOCKED_BY_POLICY" });
  expect(receipts).toEqual({ verified: 4, refused: 0, waiting: 0, missing: 1 });
});

test("what the line that was cut still owed is missing, and does not end the next run", async () => {
  const { store, transport } = createHarness({ ...STRICT, reconnect: false });
  const first = store.send("hello");
  await settle();
  transport.last().send(started, receipt(), open);
  transport.last().end();
  expect((await first).status).toBe("failed");
  const second = store.send("again");
  await settle();
  const next = runOf(2);
  transport.last().send(next.started, receipt(), ahead(), next.finished);
  expect((await second).status).toBe("done");
  await settle();
  expect(store.getSnapshot().receipts).toEqual({ verified: 3, refused: 0, waiting: 0, missing: 1 });
});

test("receipts that wait for their verifier are bounded, and at the bound nothing fails", async () => {
  const many = async (count: number) => {
    const { store, transport } = createHarness({ verifyReceipt: () => new Promise(() => {}) });
    const ended = store.send("hello");
    await settle();
    const state = { type: "STATE_SNAPSHOT", snapshot: {} };
    const pairs = Array.from({ length: count - 1 }, () => [state, receipt()]).flat();
    transport.last().send(started, receipt(), ...pairs, finished);
    return ended;
  };
  expect(await many(10_000)).toMatchObject({ status: "done" });
  expect((await many(10_001)).problem?.code).toBe("ERR_LIMIT_EXCEEDED");
});

test("receipts are not looked at without a verifier", async () => {
  const { receipts } = await afterRun([...WHOLE, ...END], {});
  expect(receipts).toEqual({ verified: 0, refused: 0, waiting: 0, missing: 0 });
});
