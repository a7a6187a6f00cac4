import { sseFrame } from "@countersign/testkit";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openSqliteKeyedStore } from "../store/sqlite/open-sqlite-store.js";
import { createMemoryStore } from "../store/memory-store.js";
import type { KeyedStore } from "../store/keyed-store.js";
import { SYSTEM_CLOCK } from "../base/ports.js";
import { idsOf, inRun } from "../testing/events.js";
import { OPEN_POLICY, startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { bearer, keyAccess } from "../testing/key-holders.js";
import type { KeyHolder } from "../testing/key-holders.js";

let fixture: Fixture;
let directory: string | undefined;
afterEach(async () => {
  await fixture.stop();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  directory = undefined;
});

async function begin(ledger: KeyedStore, policy = OPEN_POLICY): Promise<void> {
  const access = keyAccess();
  fixture = await startFixture(({ body }) => ({ pieces: inRun(idsOf(body), []).map(sseFrame) }), {
    policy,
    gateway: { access, ledger },
  });
}

type Answer = { name: KeyHolder; status: number; code?: string; receipt?: string };

async function ask(
  name: KeyHolder,
  threadId: string,
  runId = `${name}-${threadId}`,
): Promise<Answer> {
  const response = await fetch(`${fixture.url}/agents/support`, {
    method: "POST",
    headers: bearer(name),
    body: JSON.stringify({ threadId, runId, protocolVersion: "1.0", messages: [] }),
  });
  const text = await response.text();
  return { name, status: response.status, ...(response.ok ? {} : (JSON.parse(text) as object)) };
}

const PAIRS = Array.from({ length: 60 }, (_, index) => `thread-${index}`);

test.each(["memory", "SQLite"])(
  "if two principals open a thread at once, the receipts say which one did (%s)",
  async (kind) => {
    directory = await mkdtemp(join(tmpdir(), "countersign-claims-"));
    await begin(
      kind === "memory"
        ? createMemoryStore(SYSTEM_CLOCK)
        : await openSqliteKeyedStore({ directory, clock: SYSTEM_CLOCK }),
    );
    for (let first = 0; first < PAIRS.length; first += 6) {
      await Promise.all(PAIRS.slice(first, first + 6).map(race));
    }
  },
);

/** Both send a request at once; the thread then has exactly one allowed and one refused receipt. */
async function race(threadId: string): Promise<void> {
  const answers = await Promise.all([ask("alice", threadId), ask("bob", threadId)]);
  const won = answers.filter(({ status }) => status === 200);
  const lost = answers.filter(({ code }) => code === "ERR_THREAD_OWNER");
  expect({ threadId, won: won.length, lost: lost.length }).toEqual({ threadId, won: 1, lost: 1 });
  const owner = won[0]?.name as KeyHolder;
  const inbound = fixture.recorder.drafts.filter(
    (draft) => draft.direction === "inbound" && draft.thread_id === threadId,
  );
  const allowed = inbound.filter(({ receipt }) => receipt.allowed);
  const refused = inbound.filter(({ receipt }) => !receipt.allowed);
  expect(allowed.map(({ run_id: runId }) => runId)).toEqual([`${owner}-${threadId}`]);
  expect(refused).toMatchObject([{ rule: "ag_ui_request.threads" }]);
  expect(`agui-${refused[0]?.receipt.event_id}`).toBe(lost[0]?.receipt);
  const asked = fixture.agentRequests.filter(({ body }) => idsOf(body).threadId === threadId);
  expect(asked.map(({ body }) => idsOf(body).runId)).toEqual([`${owner}-${threadId}`]);
  // The owner stays the same, and the winner loses nothing by the race.
  const other = owner === "alice" ? "bob" : "alice";
  expect((await ask(other, threadId, `later-${other}-${threadId}`)).code).toBe("ERR_THREAD_OWNER");
  expect((await ask(owner, threadId, `later-${owner}-${threadId}`)).status).toBe(200);
}

test("the owner of a thread continues undisturbed while another principal tries to open it", async () => {
  await begin(createMemoryStore(SYSTEM_CLOCK));
  expect((await ask("alice", "t", "first")).status).toBe(200);
  for (let round = 0; round < 10; round += 1) {
    const [mine, ...others] = await Promise.all([
      ask("alice", "t", `a-${round}`),
      ...Array.from({ length: 5 }, (_, index) => ask("bob", "t", `b-${round}-${index}`)),
    ]);
    expect(mine.status).toBe(200);
    expect(others.map(({ code }) => code)).toEqual(others.map(() => "ERR_THREAD_OWNER"));
  }
});

test("in observe mode the second of the two passes, and its one receipt has a remark", async () => {
  const policy = OPEN_POLICY.replace(
    "rules:",
    "rules:\n  ag_ui_request: { threads: { mode: observe }, runs: { mode: observe } }",
  );
  await begin(createMemoryStore(SYSTEM_CLOCK), policy);
  for (const threadId of PAIRS.slice(0, 10)) {
    const answers = await Promise.all([ask("alice", threadId), ask("bob", threadId)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const inbound = fixture.recorder.drafts.filter(
      (draft) => draft.direction === "inbound" && draft.thread_id === threadId,
    );
    expect(inbound.map(({ receipt }) => receipt.allowed)).toEqual([true, true]);
    expect(inbound.filter(({ rule }) => rule !== undefined)).toHaveLength(1);
  }
});

test("a request that the policy denies opens no thread, also at the same time as another", async () => {
  const policy = `${OPEN_POLICY}  ag_ui_conditions:
    rules:
      - id: no-bob
        when: has(event.runId) && !has(event.type) && event.runId.startsWith("bob")
        reason: not this one
`;
  await begin(createMemoryStore(SYSTEM_CLOCK), policy);
  for (const threadId of PAIRS.slice(0, 10)) {
    const answers = await Promise.all([ask("bob", threadId), ask("alice", threadId)]);
    expect(answers.map(({ code }) => code)).toEqual(["ERR_INBOUND_BLOCKED", undefined]);
  }
});
