import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sseFrame, startRedis } from "@countersign/testkit";
import type { RunningRedis } from "@countersign/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { idsOf } from "../testing/events.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { aroundEachTest } from "../testing/shared-database.js";
import { sseEvents } from "../testing/transports.js";

const shared = aroundEachTest();

const velocity = (rule: string): string => `${OPEN_POLICY}  velocity:\n    - ${rule}\n`;
const NOTES = "match: { event_type: custom }";
const LONG = 600;
const fewIn = (seconds: number): string =>
  velocity(`{ id: few, ${NOTES}, max_invocations: 20, window_seconds: ${seconds} }`);
const FEW = fewIn(LONG);

let redis: RunningRedis;
let prefixes = 0;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

/** Starts a gateway whose agent sends a note as often as the run id says, in one write. */
async function start(
  policy: string,
  beside?: Served,
  store = shared.database.url,
  cluster = "",
): Promise<Served> {
  const served = await startServed(
    ({ body }) => {
      const ids = idsOf(body);
      const [, times = "1"] = ids.runId.split("x");
      const notes = Array.from({ length: Number(times) }, (_, count) => ({
        type: "CUSTOM",
        name: "note",
        value: count,
      }));
      const events = [{ type: "RUN_STARTED", ...ids }, ...notes, { type: "RUN_FINISHED", ...ids }];
      return { pieces: [events.map(sseFrame).join("")] };
    },
    {
      policy,
      config: `receipts: { store: "${store}" }\n${cluster}`,
      ...(beside === undefined ? {} : { beside }),
    },
  );
  shared.open.push(served);
  return served;
}

/** How many notes of a run are forwarded. */
async function notes(served: Served, session: string, runId: string): Promise<number> {
  const answer = await fetch(`${served.running.dataUrl}/agents/support?session=${session}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId: `t-${runId}`, runId, messages: [] }),
  });
  const events = sseEvents(await answer.text());
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  return events.filter(({ type }) => type === "CUSTOM").length;
}

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

describe.each([
  {
    counts: "PostgreSQL",
    seconds: LONG,
    cluster: () => "",
    freeze: () => shared.database.freeze(),
    thaw: () => shared.database.thaw(),
  },
  {
    counts: "Redis",
    seconds: 60,
    cluster: () => `cluster: { redis: "${redis.url}", prefix: test${(prefixes += 1)} }\n`,
    freeze: async () => redis.freeze(),
    thaw: async () => redis.thaw(),
  },
])("with counts in $counts", ({ seconds, cluster, freeze, thaw }) => {
  const few = fewIn(seconds);
  let block = "";
  const open = (policy: string, beside?: Served): Promise<Served> => {
    if (beside === undefined) block = cluster();
    return start(policy, beside, shared.database.url, block);
  };

  test("a session has one window over all gateways, all of it, and each session its own", async () => {
    const first = await open(few);
    const second = await open(few, first);
    expect(await notes(first, "s1", "ax9")).toBe(9);
    expect(await notes(second, "s1", "bx9")).toBe(9);
    expect(await notes(first, "s1", "cx9")).toBe(2);
    expect(await notes(second, "s1", "dx9")).toBe(0);
    const counts = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        notes(index % 2 === 0 ? first : second, "s2", `e${index}x5`),
      ),
    );
    expect(sum(counts)).toBe(20);
  }, 60_000);

  test("a restarted or new gateway finds the window unchanged", async () => {
    const first = await open(few);
    expect(await notes(first, "s1", "ax15")).toBe(15);
    await first.running.close();
    const again = await open(few, first);
    const late = await open(few, again);
    expect(await notes(late, "s1", "bx15")).toBe(5);
    expect(await notes(again, "s1", "cx15")).toBe(0);
  }, 60_000);

  test("an agent has one window over all gateways, for all clients, and blocked events do not count", async () => {
    const policy = velocity(
      `{ id: busy, scope: agent, ${NOTES}, max_invocations: 30, window_seconds: ${seconds} }`,
    );
    const first = await open(policy);
    const second = await open(policy, first);
    const counts = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        notes(index % 2 === 0 ? first : second, `s${index}`, `r${index}x4`),
      ),
    );
    expect(sum(counts)).toBe(30);
    expect(await notes(first, "later", "zx3")).toBe(0);
  }, 60_000);

  test("a browser's request counts at whichever gateway receives it", async () => {
    const rule = `{ id: asks, match: { direction: inbound }, max_invocations: 3, window_seconds: ${seconds} }`;
    const first = await open(velocity(rule));
    const second = await open(velocity(rule), first);
    const statuses: number[] = [];
    for (const [index, served] of [first, second, first, second, first].entries()) {
      const runId = `r${index}`;
      const answer = await fetch(`${served.running.dataUrl}/agents/support?session=s`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ protocolVersion: "1.0", threadId: runId, runId, messages: [] }),
      });
      await answer.text();
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([200, 200, 200, 403, 403]);
  }, 60_000);

  test("a short outage of the store delays a run, and blocks nothing of it", async () => {
    const first = await open(few);
    expect(await notes(first, "s1", "ax1")).toBe(1);
    await freeze();
    const asked = notes(first, "s1", "bx5");
    await new Promise((resolve) => setTimeout(resolve, 700));
    await thaw();
    expect(await asked).toBe(5);
  }, 60_000);
});

test("the only gateway of an embedded store finds the window after a restart", async () => {
  const first = await start(FEW, undefined, "sqlite:receipts");
  expect(await notes(first, "s1", "ax15")).toBe(15);
  await first.running.close();
  const second = await start(FEW, first, `sqlite:${first.folder}/receipts`);
  expect(await notes(second, "s1", "bx15")).toBe(5);
  expect(await notes(second, "s2", "cx15")).toBe(15);
}, 60_000);

test("a reloaded policy finds the window unchanged, also under another cap", async () => {
  const served = await start(FEW, undefined, "sqlite:receipts");
  expect(await notes(served, "s1", "ax15")).toBe(15);
  const reload = async (policy: string): Promise<void> => {
    await writeFile(join(served.folder, "policy.yaml"), policy);
    expect(served.running.reloadPolicy("signal")).toMatchObject({ replaced: true });
  };
  await reload(FEW.replace("name: open", "name: again"));
  expect(await notes(served, "s1", "bx4")).toBe(4);
  await reload(FEW.replace("max_invocations: 20", "max_invocations: 22"));
  expect(await notes(served, "s1", "cx15")).toBe(3);
}, 60_000);
