import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createApiKey } from "../access/api-keys.js";
import { HELD_AGENT } from "../testing/held-agent.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";

let database: RunningPostgres;
let open: Served[] = [];
beforeAll(async () => {
  database = await startPostgres();
}, 30_000);
afterEach(async () => {
  for (const served of open) await served.stop();
  open = [];
}, 30_000);
afterAll(() => database.stop(), 30_000);

const [alice, bob] = [createApiKey(), createApiKey()];

/** Gateways of one log share its keys, so every test has a log of its own. */
let logs = 0;
async function start(store: string, beside?: Served): Promise<Served> {
  if (beside === undefined) logs += 1;
  const served = await startServed(HELD_AGENT, {
    config: `receipts: { store: "${store}", origin: "log-${logs}.example/log" }
access:
  mode: keys
  keys: { entries: { alice: "${alice.hash}", bob: "${bob.hash}" } }
`,
    ...(beside === undefined ? {} : { beside }),
  });
  open.push(served);
  return served;
}

let runs = 0;
async function run(
  served: Served,
  key: string,
  session: string,
  ids: object = {},
): Promise<{ status: number; code: string | undefined }> {
  runs += 1;
  const answer = await fetch(`${served.running.dataUrl}/agents/support?session=${session}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({
      protocolVersion: "1.0",
      threadId: `t-${runs}`,
      runId: `r-${runs}`,
      messages: [],
      ...ids,
    }),
  });
  const text = await answer.text();
  const code = answer.status === 200 ? undefined : (JSON.parse(text) as { code: string }).code;
  return { status: answer.status, code };
}
const ticket = async (served: Served, key: string, session: string): Promise<number> => {
  const headers = { authorization: `Bearer ${key}` };
  const url = `${served.running.dataUrl}/ag-ui/tickets?session=${session}`;
  return (await fetch(url, { method: "POST", headers })).status;
};
/** The status of an upgrade; 101 when there is a socket. */
const socket = (served: Served, key: string, session: string): Promise<number> =>
  new Promise((resolve) => {
    const url = `${served.running.dataUrl.replace("http", "ws")}/ws?session=${session}`;
    const opened = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } });
    const end = (status: number): void => {
      opened.terminate();
      resolve(status);
    };
    opened.on("error", () => {});
    opened.on("open", () => end(101));
    opened.on("unexpected-response", (_request, response) => end(response.statusCode ?? 0));
  });

const FOREIGN = { status: 403, code: "ERR_ACCESS_SESSION" };

test("a session used at one gateway belongs to its principal at every other, on every route", async () => {
  const first = await start(database.url);
  const second = await start(database.url, first);
  expect((await run(first, alice.key, "by-run")).status).toBe(200);
  expect(await ticket(first, alice.key, "by-ticket")).toBe(201);
  expect(await socket(first, alice.key, "by-socket")).toBe(101);
  for (const session of ["by-run", "by-ticket", "by-socket"]) {
    expect(await run(second, bob.key, session)).toEqual(FOREIGN);
    expect(await ticket(second, bob.key, session)).toBe(403);
    expect(await socket(second, bob.key, session)).toBe(403);
    expect((await run(second, alice.key, session)).status).toBe(200);
    // Known here by now, without a ledger read.
    expect(await run(second, bob.key, session)).toEqual(FOREIGN);
  }
  expect(second.agentRequests).toHaveLength(3);
}, 60_000);

test("of two principals that use a new session at two gateways at once, one gets it; the other uses up no run id", async () => {
  const first = await start(database.url);
  const second = await start(database.url, first);
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all([
      run(first, alice.key, `race-${round}`),
      run(second, bob.key, `race-${round}`),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403]);
  }
  await run(first, alice.key, "hers");
  const ids = { threadId: "bobs", runId: "bobs" };
  expect(await run(second, bob.key, "hers", ids)).toEqual(FOREIGN);
  expect((await run(second, bob.key, "his", ids)).status).toBe(200);
}, 60_000);

test("an embedded store remembers session owners over a restart", async () => {
  const first = await start("sqlite:receipts");
  await run(first, alice.key, "s");
  await first.running.close();
  const again = await start(`sqlite:${first.folder}/receipts`, first);
  expect(await run(again, bob.key, "s")).toEqual(FOREIGN);
  expect((await run(again, alice.key, "s")).status).toBe(200);
}, 60_000);
