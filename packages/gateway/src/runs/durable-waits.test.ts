import { setImmediate as turn } from "node:timers/promises";
import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { ANONYMOUS } from "../access/access.js";
import { SYSTEM_CLOCK } from "../base/ports.js";
import type { KeyedStore } from "../store/keyed-store.js";
import { createMemoryStore } from "../store/memory-store.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { createMemoryRecorder, startFixture } from "../testing/fixture.js";
import type { Fixture, MemoryRecorder } from "../testing/fixture.js";
import { post } from "../testing/transports.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

/** A disk of log and ledger on which every write waits until the test flushes. */
class HeldDisk {
  #held: (() => void)[] = [];
  #onHeld = (): void => {};
  isHolding = true;

  /** Resolves with the next flush. */
  write(): Promise<void> {
    if (!this.isHolding) return Promise.resolve();
    return new Promise((resolve) => {
      this.#held.push(resolve);
      this.#onHeld();
    });
  }

  /** Resolves when a write waits, and all that do not wait for another have joined it. */
  async held(): Promise<void> {
    if (this.#held.length === 0) {
      await new Promise<void>((resolve) => {
        this.#onHeld = resolve;
      });
    }
    for (let turns = 0; turns < 20; turns += 1) await turn();
  }

  flush(): void {
    for (const resolve of this.#held.splice(0)) resolve();
  }
}

async function startOn(
  disk: HeldDisk,
): Promise<{ fixture: Fixture; recorder: MemoryRecorder; store: KeyedStore }> {
  const recorder = createMemoryRecorder();
  const store = createMemoryStore(SYSTEM_CLOCK);
  const ledger: KeyedStore = {
    ...store,
    write: async (...parameters) => {
      await disk.write();
      await store.write(...parameters);
    },
    claim: async (claims, reading, then) => {
      const isRead = then === undefined && claims.every(({ isLookup }) => isLookup === true);
      if (!isRead) await disk.write();
      return store.claim(claims, reading, then);
    },
  };
  const appendAll: MemoryRecorder["appendAll"] = async (drafts) => {
    await disk.write();
    return recorder.appendAll(drafts);
  };
  fixture = await startFixture(
    (request) => ({ pieces: inRun(idsOf(request.body), text("a", "hello")).map(sseFrame) }),
    { gateway: { ledger, recorder: { appendAll } } },
  );
  return { fixture, recorder, store };
}

const INPUT = { messages: [{ id: "m", role: "user", content: "hi" }] };

test.each([
  ["a new thread", []],
  ["a known thread", [{ kind: "thread", id: "", value: { owner: ANONYMOUS.id } } as const]],
])(
  "a run on %s waits for two durable writes in a row: before the agent is asked, and before its first event leaves",
  async (_title, rows) => {
    const disk = new HeldDisk();
    const { fixture: gateway, recorder, store } = await startOn(disk);
    await store.write(JSON.stringify(["support", "", "t"]), rows);
    const responding = post(`${gateway.url}/ag-ui/run`, { ...INPUT, threadId: "t", runId: "r" });
    await disk.held();
    expect(gateway.agentRequests).toEqual([]);
    disk.flush();
    const response = await responding;
    let hasBegun = false;
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const reading = reader.read().then(({ value }) => {
      hasBegun = true;
      return new TextDecoder().decode(value);
    });
    await disk.held();
    expect(gateway.agentRequests).toHaveLength(1);
    expect([recorder.drafts.length, hasBegun]).toEqual([1, false]);
    disk.flush();
    expect(await reading).toContain("RUN_STARTED");
    disk.isHolding = false;
    disk.flush();
    while (!(await reader.read()).done);
  },
);

test("a request that loses its thread while its receipt is written is refused, with a second receipt", async () => {
  const recorder = createMemoryRecorder();
  const store = createMemoryStore(SYSTEM_CLOCK);
  const ledger: KeyedStore = {
    ...store,
    claim: async (claims, reading, then) => {
      const owner = claims.find(({ row, isLookup }) => row.kind === "thread" && isLookup !== true);
      if (owner !== undefined) {
        await store.write(owner.partition, [{ ...owner.row, value: { owner: "someone else" } }]);
      }
      return store.claim(claims, reading, then);
    },
  };
  fixture = await startFixture(() => ({ pieces: [] }), { gateway: { ledger, recorder } });
  const response = await post(`${fixture.url}/ag-ui/run`, { ...INPUT, threadId: "t", runId: "r" });
  const problem = (await response.json()) as { code: string; receipt: string };
  expect([response.status, problem.code]).toEqual([403, "ERR_THREAD_OWNER"]);
  const [first, second] = recorder.drafts;
  expect(recorder.drafts).toHaveLength(2);
  expect([first?.receipt.allowed, second?.receipt.allowed]).toEqual([true, false]);
  expect(problem.receipt).toBe(`agui-${second?.receipt.event_id}`);
  expect(second?.receipt.denial_reason).toContain(
    `agui-${first?.receipt.event_id} was not sent up`,
  );
  expect(fixture.agentRequests).toEqual([]);
  expect((await store.claim([], JSON.stringify(["support", "", "t"]))).rows).toMatchObject([
    { kind: "thread", value: { owner: "someone else" } },
  ]);
});
