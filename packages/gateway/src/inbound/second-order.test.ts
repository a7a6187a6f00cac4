import { compilePolicy, loadPolicy } from "@countersign/policy";
import { sseFrame } from "@countersign/testkit";
import type { Message } from "@countersign/wire";
import { afterEach, expect, test } from "vitest";
import { SYSTEM_CLOCK } from "../base/ports.js";
import type { StoredRow } from "../store/keyed-store.js";
import { createMemoryStore } from "../store/memory-store.js";
import { runClient } from "../testing/client.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { OPEN_POLICY, startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { rowsOf } from "../testing/keyed-store-contract.js";
import { threadKey } from "./thread-admission.js";
import { stateOf } from "../thread/thread-state.js";
import type { ThreadState } from "../thread/thread-state.js";
import { reviewHistory } from "./history.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

const user = (id: string): Message => ({ id, role: "user", content: id });
const assistant = (id: string): Message => ({ id, role: "assistant", content: id });
const list = (...messages: Message[]): object => ({ type: "MESSAGES_SNAPSHOT", messages });
const THREAD = [user("u1"), assistant("a1"), user("u2"), assistant("a2")];
const IDS = THREAD.map(({ id }) => id);

/** The ledger after one turn, a reload, and a turn with these events; and what the reloaded page holds. */
async function reloaded(
  events: readonly object[],
): Promise<{ state: ThreadState; held: readonly Message[] }> {
  const scripts = [text("a1", "a1"), events];
  const ledger = createMemoryStore(SYSTEM_CLOCK);
  fixture = await startFixture(
    ({ body }) => ({ pieces: inRun(idsOf(body), scripts.shift() ?? []).map(sseFrame) }),
    { policy: OPEN_POLICY, gateway: { ledger } },
  );
  const url = `${fixture.url}/agents/support`;
  await runClient(url, { threadId: "t", messages: [user("u1")] as never });
  const { messages } = await runClient(url, { threadId: "t", messages: [user("u2")] as never });
  const read = async (): Promise<StoredRow[]> => rowsOf(ledger, threadKey("support", "", "t"));
  const isSaved = async (): Promise<boolean> =>
    (await read()).some(({ kind, value }) => kind === "order" && value["run"] === undefined);
  await expect.poll(isSaved, { timeout: 20_000 }).toBe(true);
  return { state: stateOf(await read()), held: messages as unknown as Message[] };
}

const settingsOf = (history: string) =>
  compilePolicy(loadPolicy(`${OPEN_POLICY}  ag_ui_request: { history: ${history} }\n`)).request
    .history;

function codes(messages: readonly Message[], state: ThreadState, history = "{}"): string[] {
  const input = { threadId: "t", runId: "r", messages: [...messages] };
  const { findings } = reviewHistory(input, state, settingsOf(history));
  return findings.filter(({ isReportOnly }) => isReportOnly !== true).map(({ code }) => code);
}

/** Every selection of the messages, in every order. */
function selections(messages: readonly Message[]): Message[][] {
  return [
    [],
    ...messages.flatMap((first) =>
      selections(messages.filter((other) => other !== first)).map((rest) => [first, ...rest]),
    ),
  ];
}

const idsIn = (messages: readonly Message[]): string => messages.map(({ id }) => id).join();
const EVENTS: [string, readonly object[], string][] = [
  ["the list brings the answer", [list(...THREAD)], "u2,u1,a1,a2"],
  ["the list comes after the answer", [...text("a2", "a2"), list(...THREAD)], "u2,a2,u1,a1"],
  [
    "the list comes before the answer",
    [list(...THREAD.slice(0, 3)), ...text("a2", "a2")],
    "u2,u1,a1,a2",
  ],
];

test.each(EVENTS)(
  "after a reload, %s: a client repeats the end of the thread or, whole, the order it holds, and nothing else",
  async (_, events, order) => {
    const { state, held } = await reloaded(events);
    expect(idsIn(held)).toBe(order);
    expect(state.order).toEqual(IDS);
    const ends = THREAD.map((__, start) => idsIn(THREAD.slice(start)));
    const accepted = selections(THREAD)
      .filter((selection) => codes([...selection, user("new")], state).length === 0)
      .map(idsIn);
    expect(accepted.toSorted()).toEqual([...ends, "", order].toSorted());
  },
);

test.each(EVENTS)(
  "after a reload, %s: a new message stands before none that an earlier run delivered",
  async (_, events) => {
    const { state, held } = await reloaded(events);
    for (const at of [0, 1, 2, 3, 4]) {
      const isBeforeOld = held.slice(at).some(({ id }) => id !== "a2");
      const isAccepted = codes(held.toSpliced(at, 0, user("new")), state).length === 0;
      expect([at, isAccepted]).toEqual([at, !isBeforeOld]);
    }
  },
);

test.each(EVENTS)(
  "after a reload, %s: `rollback: true` opens the end of either order and no gap in one",
  async (_, events, order) => {
    const { state } = await reloaded(events);
    const starts = (ids: string): string[] =>
      THREAD.map((__, count) =>
        ids
          .split(",")
          .slice(0, count + 1)
          .join(),
      );
    const parts = IDS.flatMap((__, from) =>
      IDS.slice(from).map((___, count) => IDS.slice(from, from + count + 1).join()),
    );
    const accepted = selections(THREAD)
      .filter(
        (selection) => codes([...selection, user("new")], state, "{ rollback: true }").length === 0,
      )
      .map(idsIn);
    expect(accepted.toSorted()).toEqual([...new Set(["", ...parts, ...starts(order)])].toSorted());
  },
);

test("`accept: full` takes either order whole, and `accept: tail` takes neither", async () => {
  const { state, held } = await reloaded([list(...THREAD)]);
  for (const messages of [THREAD, held]) {
    expect(codes([...messages, user("new")], state, "{ accept: full }")).toEqual([]);
    expect(codes([...messages, user("new")], state, "{ accept: tail }")).not.toEqual([]);
  }
  expect(codes([user("new")], state, "{ accept: full }")).not.toEqual([]);
});
