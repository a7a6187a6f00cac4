import { canonicalJson, sha256Hex } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { expect, test, vi } from "vitest";
import { CHAT_POLICY } from "../../testing/fixture.js";
import { chunk, createInProcess } from "../../testing/in-process.js";
import { inRun } from "../../testing/events.js";

const IDS = { threadId: "t", runId: "r" };
const INPUT = { ...IDS, messages: [] };
const text = (count: number): object[] => [
  { type: "TEXT_MESSAGE_START", messageId: "m" },
  ...Array.from({ length: count }, (_, index) => ({
    type: "TEXT_MESSAGE_CONTENT",
    messageId: "m",
    delta: `${index}`,
  })),
  { type: "TEXT_MESSAGE_END", messageId: "m" },
];
const typesOf = (events: readonly AgUiEvent[]): string[] => events.map(({ type }) => type);

test("events of one chunk are sent in one write, and are one group to the observer", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const writes: number[] = [];
  const groups: number[] = [];
  const { delivered } = await gateway.run(INPUT, [chunk(inRun(IDS, text(10)))], {
    onSend: (events) => void writes.push(events.length),
    onGroup: (contexts, arrivedAt) => {
      expect(arrivedAt).toBeLessThanOrEqual(performance.now());
      groups.push(contexts);
    },
  });
  await gateway.close();
  expect(delivered).toHaveLength(14);
  expect(writes).toEqual([14]);
  expect(groups).toEqual([14]);
});

test("the delivery hooks receive the delivered events, first all of them, then each in turn", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const log: string[] = [];
  const activity = { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "form", content: {} };
  const { delivered } = await gateway.run(INPUT, [chunk(inRun(IDS, [activity, ...text(1)]))], {
    beforeDelivery: (events) => {
      log.push(`before ${typesOf(events).join(" ")}`);
      return undefined;
    },
    delivered: (event, { receiptId }) => {
      expect(receiptId).toBeTypeOf("string");
      log.push(event.type);
    },
    onSend: () => void log.push("sent"),
  });
  await gateway.close();
  const types = [
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ];
  expect(typesOf(delivered)).toEqual(types);
  expect(log).toEqual([`before ${types.join(" ")}`, ...types, "sent"]);
});

test("no event is delivered before the hook before delivery has resolved", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  let resolved = false;
  const { delivered } = await gateway.run(INPUT, [chunk(inRun(IDS, text(1)))], {
    beforeDelivery: async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      resolved = true;
    },
    onSend: () => expect(resolved).toBe(true),
  });
  await gateway.close();
  expect(delivered.at(-1)?.type).toBe("RUN_FINISHED");
});

test.each(["rejects", "throws"])(
  "a hook before delivery that %s ends the run, and its events are withheld",
  async (how) => {
    const gateway = createInProcess(CHAT_POLICY);
    const { delivered, failures } = await gateway.run(
      INPUT,
      [chunk([{ type: "RUN_STARTED", ...IDS }]), chunk(text(1))],
      {
        beforeDelivery: (events) => {
          if (events[0]?.type === "RUN_STARTED") return undefined;
          if (how === "throws") throw new Error("the ledger is down");
          return Promise.reject(new Error("the ledger is down"));
        },
      },
    );
    await gateway.close();
    expect(typesOf(delivered)).toEqual(["RUN_STARTED", "RUN_ERROR"]);
    expect(delivered[1]).toMatchObject({ code: "RECEIPTS_UNAVAILABLE" });
    expect(failures).toEqual(["RECEIPTS_UNAVAILABLE"]);
  },
);

test("receipts of a group are numbered in the order of its events, and each event gets its own", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const { contexts } = await gateway.run(INPUT, [chunk(inRun(IDS, text(300)))]);
  const { drafts } = gateway.recorder;
  await gateway.close();
  expect(contexts).toHaveLength(304);
  contexts.forEach(({ seq, receiptId, event }, index) => {
    expect(seq).toBe(index);
    expect(receiptId).toBe(`agui-${drafts[index]?.receipt.event_id}`);
    expect(drafts[index]?.receipt.payload_hash).toBe(sha256Hex(canonicalJson(event as never)));
  });
});

test("a group has at most as many events as the log signs at once, however many arrive together", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const sizes: number[] = [];
  const appendAll = gateway.recorder.appendAll.bind(gateway.recorder);
  gateway.recorder.appendAll = (drafts) => {
    sizes.push(drafts.length);
    return appendAll(drafts);
  };
  // The clock stands still: a busy machine would end the turn, and with it the group, before all events are judged.
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  const { delivered } = await gateway.run(INPUT, [chunk(inRun(IDS, text(296)))]);
  clock.mockRestore();
  await gateway.close();
  expect(sizes).toEqual([128, 128, 44]);
  expect(delivered).toHaveLength(300);
});

test("a group that cannot be recorded is withheld whole, and so is everything after it", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const appendAll = gateway.recorder.appendAll.bind(gateway.recorder);
  let calls = 0;
  gateway.recorder.appendAll = (drafts) =>
    ++calls === 2 ? Promise.reject(new Error("the store is down")) : appendAll(drafts);
  const events = inRun(IDS, text(9));
  const { delivered, contexts } = await gateway.run(INPUT, [
    chunk(events.slice(0, 4)),
    chunk(events.slice(4, 8)),
    chunk(events.slice(8)),
  ]);
  await gateway.close();
  expect(typesOf(delivered.slice(0, -1))).toEqual(events.slice(0, 4).map((event) => typeOf(event)));
  expect(delivered.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "RECEIPTS_UNAVAILABLE" });
  expect(contexts).toHaveLength(4);
});

test("complete events before malformed bytes in one chunk are delivered, and the malformed bytes have a receipt", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const { bytes } = chunk([{ type: "RUN_STARTED", ...IDS }, ...text(2).slice(0, 2)]) as {
    bytes: Uint8Array;
  };
  const bad = new TextEncoder().encode('data: {"type":\n\n');
  const piece = { kind: "sse", bytes: new Uint8Array([...bytes, ...bad]) } as const;
  const { delivered } = await gateway.run(INPUT, [piece]);
  await gateway.close();
  expect(typesOf(delivered)).toEqual([
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "RUN_ERROR",
  ]);
  expect(gateway.recorder.drafts.map(({ receipt }) => receipt.allowed)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test("the sent text is the hashed text, and an event with removed parts has its own hash", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const sent: (string | undefined)[] = [];
  const start = { type: "TEXT_MESSAGE_START", messageId: "m", rawEvent: { secret: 1 } };
  await gateway.run(INPUT, [chunk(inRun(IDS, [start, ...text(1).slice(1)]))], {
    onSend: (_events, texts) => void sent.push(...(texts ?? [])),
  });
  await gateway.close();
  const hashes = gateway.recorder.drafts.map(
    ({ receipt, emitted_hash }) => emitted_hash ?? receipt.payload_hash,
  );
  expect(sent.map((json) => sha256Hex(json ?? ""))).toEqual(hashes);
  expect(sent.join("")).not.toContain("secret");
});

function typeOf(event: object): string {
  return (event as { type: string }).type;
}
