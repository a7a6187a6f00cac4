import { sseFrame, startRedis, startTornLine } from "@countersign/testkit";
import type { RunningRedis, TornLine } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { idsOf } from "../testing/events.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { aroundEachTest } from "../testing/shared-database.js";

const WAIT = { timeout: 10_000, interval: 20 };
const shared = aroundEachTest();
let redis: RunningRedis;
let prefixes = 0;
const lines: TornLine[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  for (const line of lines) await line.stop();
  await redis.stop();
});

/** Starts a gateway whose agent runs until its connection closes. */
async function start(beside?: Served, port = redis.port, whenDown = "refuse"): Promise<Served> {
  if (beside === undefined) prefixes += 1;
  const served = await startServed(
    ({ body, signal }) => ({
      pieces: (async function* () {
        const ids = idsOf(body);
        yield sseFrame({ type: "RUN_STARTED", ...ids });
        while (!signal.aborted) {
          yield sseFrame({ type: "CUSTOM", name: "note", value: 1 });
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      })(),
    }),
    {
      policy: OPEN_POLICY,
      config:
        `receipts: { store: "${shared.database.url}" }\n` +
        `cluster: { redis: "redis://127.0.0.1:${port}", prefix: s${prefixes}, when_down: ${whenDown} }\n`,
      ...(beside === undefined ? {} : { beside }),
    },
  );
  shared.open.push(served);
  return served;
}

async function runAt(served: Served, session: string, runId: string): Promise<Response> {
  return fetch(`${served.running.dataUrl}/agents/support?session=${session}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId: runId, runId, messages: [] }),
  });
}

/** Stops a run through a gateway; milliseconds until the answer, and until the client's stream has ended. */
async function stopThrough(served: Served, session: string, runId: string, run: Response) {
  const from = performance.now();
  const answer = await served.control(`/v1/sessions/${session}/runs/${runId}/stop`, {
    method: "POST",
  });
  const answered = performance.now() - from;
  expect(answer.status).toBe(202);
  expect(await run.text()).toContain("RUN_ERROR");
  return { answered, ended: performance.now() - from };
}

const post = (served: Served, path: string, body: object): Promise<Response> =>
  served.control(path, { method: "POST", body: JSON.stringify(body) });

async function proxy(): Promise<TornLine & { readonly port: number }> {
  const line = await startTornLine(redis.port);
  lines.push(line);
  return { ...line, port: Number(new URL(line.url).port) };
}

/** Scans of a table per second. */
async function scansOf(table: string): Promise<number> {
  const client = new Client({ connectionString: shared.database.url });
  await client.connect();
  const count = async (): Promise<number> => {
    // A connection of the gateways reports its scans once a second.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await client.query("SELECT pg_stat_clear_snapshot()");
    const { rows } = await client.query(
      "SELECT coalesce(sum(seq_scan + idx_scan), 0) AS n FROM pg_stat_user_tables WHERE relname = $1",
      [table],
    );
    return Number((rows[0] as { n: string }).n);
  };
  const before = await count();
  const after = await count();
  await client.end();
  return (after - before) / 1.5;
}

test("a run is stopped through any of four gateways, though orders are read every ten seconds only", async () => {
  const first = await start();
  const others = [await start(first), await start(first), await start(first)];
  for (const [index, served] of others.entries()) {
    for (let count = 0; count < 3; count += 1) {
      const runId = `r${index}-${count}`;
      // Without a signal the order would have no answer within its three seconds.
      await stopThrough(first, "s1", runId, await runAt(served, "s1", runId));
    }
  }
  // Four gateways that poll would read the table eight times a second.
  await expect.poll(() => scansOf("countersign_orders"), { timeout: 30_000 }).toBeLessThan(1.5);
}, 60_000);

test("a contained agent and a revocation are signalled to the other gateways", async () => {
  const first = await start();
  const second = await start(first);
  const { containment } = second.running.gateway.context;
  await first.running.gateway.context.containment.contain(["support"], "operator");
  await vi.waitFor(() => expect(containment.isContained("support")).toBe(true), {
    timeout: 5000,
    interval: 5,
  });
  const issued = await post(first, "/v1/capabilities", {
    agent: "support",
    session_id: "s1",
    scopes: ["ui:*:*"],
    allow_unowned_session: true,
    attach: false,
  });
  const { id } = (await issued.json()) as { id: string };
  expect((await post(first, "/v1/capabilities/revoke", { id })).status).toBe(200);
  await vi.waitFor(() => expect(second.running.tokens.revocations.count).toBe(1), WAIT);
  const [key = ""] = (await redis.cli("KEYS", `s${prefixes}:*:signal:revocations`)).split("\n");
  expect(await redis.cli("GET", key)).toBe("1");
}, 60_000);

test("without Redis, orders and revocations go on by polling; readiness, metrics and log say what is down", async () => {
  const line = await proxy();
  const first = await start(undefined, line.port, "refuse");
  const second = await start(first, line.port, "degrade");
  const run = await runAt(second, "s1", "r1");
  await line.stop();
  const ready = async (served: Served): Promise<string> => {
    const response = await fetch(`${served.running.dataUrl}/readyz`);
    return `${response.status} ${((await response.json()) as { status: string }).status}`;
  };
  await expect.poll(() => ready(first), WAIT).toBe("503 redis unavailable");
  expect(await ready(second)).toBe("200 ready");
  const { answered } = await stopThrough(first, "s1", "r1", run);
  expect(answered).toBeLessThan(3000);
  for (const served of [first, second]) {
    const page = await (await served.control("/metrics")).text();
    expect(page).toContain('countersign_redis_up{connection="commands"} 0');
    await expect
      .poll(() => served.lines.filter(({ code }) => code === "REDIS_DOWN"))
      .toHaveLength(1);
  }
}, 60_000);

test("a gateway that alone is cut off from Redis executes orders, and hears signals again afterwards", async () => {
  const line = await proxy();
  const first = await start();
  const second = await start(first, line.port);
  for (const runId of ["r1", "r2", "r3"]) {
    const run = await runAt(second, "s1", runId);
    line.tear();
    const { answered } = await stopThrough(first, "s1", runId, run);
    expect(answered).toBeLessThan(3000);
  }
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const run = await runAt(second, "s1", "r4");
  await stopThrough(first, "s1", "r4", run);
}, 60_000);

test("after a crash of the database, which numbers its orders anew, orders are executed again", async () => {
  const first = await start();
  const second = await start(first);
  for (const runId of ["r1", "r2", "r3"]) {
    const run = await runAt(second, "s1", runId);
    await stopThrough(first, "s1", runId, run);
  }
  await shared.database.crash();
  await shared.database.start();
  await expect
    .poll(() => runAt(second, "s1", "probe").then(({ status }) => status), WAIT)
    .toBe(200);
  // One heartbeat of each gateway.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  const run = await runAt(second, "s1", "r4");
  await stopThrough(first, "s1", "r4", run);
}, 60_000);
