import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createApiKey } from "../access/api-keys.js";
import { HELD_AGENT } from "../testing/held-agent.js";
import { AUDIENCE } from "../testing/identity.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { aroundAllTests } from "../testing/shared-database.js";
import { sseEvents } from "../testing/transports.js";

const WAIT = { timeout: 10_000, interval: 50 };

const shared = aroundAllTests();

const jwt = (): string =>
  `  mode: jwt
  jwt: { issuer: "${shared.identity.issuer}", audience: ${AUDIENCE}, jwks: "${shared.identity.jwksUrl.href}", clock_tolerance: 0 }`;
const listing = (name: string, hash: string): string =>
  `  mode: keys\n  keys: { entries: { ${name}: "${hash}" } }`;

/** A gateway of a log in the database, with its own access block. */
async function start(log: string, access: string, beside?: Served): Promise<Served> {
  const served = await startServed(HELD_AGENT, {
    config: `receipts: { store: "${shared.database.url}", origin: ${log} }\naccess:\n${access}\n`,
    ...(beside === undefined ? {} : { beside }),
  });
  shared.open.push(served);
  return served;
}

async function startTwo(log: string, access = jwt()): Promise<[Served, Served]> {
  const first = await start(log, access);
  return [first, await start(log, access, first)];
}

async function ticketAt(served: Served, token: string, session: string): Promise<string> {
  const answer = await fetch(`${served.running.dataUrl}/ag-ui/tickets?session=${session}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { url: string }).url;
}
const streamAt = (served: Served, url: string): Promise<Response> =>
  fetch(`${served.running.dataUrl}${url}`);

test("a ticket of one gateway opens one stream at another, and of many attempts at both one wins", async () => {
  const [first, second] = await startTwo("tickets.example/race");
  const token = await shared.identity.token("alice");
  const url = await ticketAt(first, token, "s1");
  const stream = await streamAt(second, url);
  expect(stream.status).toBe(200);
  expect(sseEvents(await stream.text()).at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect((await streamAt(first, url)).status).toBe(401);
  expect((await streamAt(second, url)).status).toBe(401);
  for (let round = 0; round < 5; round++) {
    const contested = await ticketAt(first, token, `race-${round}`);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        streamAt(index % 2 === 0 ? first : second, contested),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(19);
    await Promise.all(answers.map((answer) => answer.text()));
  }
  // Wrong session, wrong agent: used up everywhere.
  const wrong = await ticketAt(first, token, "s2");
  expect((await streamAt(second, wrong.replace("s2", "s3"))).status).toBe(401);
  expect((await streamAt(first, wrong)).status).toBe(401);
}, 60_000);

test("a stream opened by ticket at another gateway ends with its token", async () => {
  const [first, second] = await startTwo("tickets.example/expiry");
  const exp = Math.floor(Date.now() / 1000) + 2;
  const url = await ticketAt(first, await shared.identity.token("bob", { exp }), "s1");
  const stream = await streamAt(second, `${url}&run=held`);
  expect(stream.status).toBe(200);
  expect(sseEvents(await stream.text()).at(-1)).toMatchObject({
    type: "RUN_ERROR",
    code: "ACCESS_EXPIRED",
  });
  expect(Date.now() / 1000).toBeGreaterThanOrEqual(exp);
}, 60_000);

test("a key that is listed at one gateway only opens nothing at the other, with or without a ticket", async () => {
  const key = createApiKey();
  const log = "tickets.example/keys";
  const [first, second] = await startTwo(log, listing("bot", key.hash));
  expect((await streamAt(second, await ticketAt(first, key.key, "s1"))).status).toBe(200);
  const elsewhere = await start(log, listing("bot", createApiKey().hash), first);
  const foreign = await ticketAt(first, key.key, "s2");
  expect((await streamAt(elsewhere, foreign)).status).toBe(401);
  // Used up by the failed attempt.
  expect((await streamAt(first, foreign)).status).toBe(401);
}, 60_000);

test("removing a line from a gateway's own list ends what another gateway's ticket opened there", async () => {
  const key = createApiKey();
  const log = "tickets.example/lines";
  const first = await start(log, listing("bot", key.hash));
  const file = join(first.folder, "keys.txt");
  await writeFile(file, `bot ${key.hash}\n`);
  const second = await start(log, `  mode: keys\n  keys: { file: "${file}" }`, first);
  const stream = await streamAt(second, `${await ticketAt(first, key.key, "s1")}&run=held`);
  expect(stream.status).toBe(200);
  await writeFile(file, "");
  expect(sseEvents(await stream.text()).at(-1)).toMatchObject({ code: "ACCESS_EXPIRED" });
}, 60_000);

test("while the database is down every ticket is rejected with the ledger's own code; afterwards they are accepted", async () => {
  const [first, second] = await startTwo("tickets.example/down");
  const token = await shared.identity.token("alice");
  const [one, other] = [await ticketAt(first, token, "s1"), await ticketAt(first, token, "s2")];
  await shared.database.crash();
  const refused = await streamAt(second, one);
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ code: "ERR_LEDGER_UNAVAILABLE" });
  await shared.database.start();
  await vi.waitFor(async () => {
    expect((await fetch(`${second.running.dataUrl}/readyz`)).status).toBe(200);
  }, WAIT);
  expect((await streamAt(second, other)).status).toBe(200);
}, 60_000);
