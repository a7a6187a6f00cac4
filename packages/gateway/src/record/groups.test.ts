import type { AgUiEvent } from "@countersign/wire";
import { expect, test } from "vitest";
import { CHAT_POLICY } from "../testing/fixture.js";
import { chunk, createInProcess } from "../testing/in-process.js";
import { inRun } from "../testing/events.js";

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

test("what arrives in one chunk leaves in one write, and is one group to the observer", async () => {
  const gateway = createInProcess(CHAT_POLICY);
  const writes: number[] = [];
  const groups: number[] = [];
  const { delivered } = await gateway.run(INPUT, [chunk(inRun(IDS, text(10)))], {
    onSend: (events) => void writes.push(events.length),
    onGroup: (passages, arrivedAt) => {
      expect(arrivedAt).toBeLessThanOrEqual(performance.now());
      groups.push(passages);
    },
  });
  await gateway.close();
  expect(delivered).toHaveLength(14);
  expect(writes).toEqual([14]);
  expect(groups).toEqual([14]);
});

test("the hooks on delivery are told what the person gets, first all of it, then each at its turn", async () => {
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

test("nothing is delivered before the hook before delivery has resolved", async () => {
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
  "a hook before delivery that %s ends the run, and its events stay back",
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
