import { sseFrame } from "@countersign/testkit";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { expect, test, vi } from "vitest";
import { idsOf } from "../testing/events.js";
import { CHAT_POLICY } from "../testing/fixture.js";
import { readScrape, valueOf } from "../testing/scrape.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { aroundEachTest } from "../testing/shared-database.js";
import { sseEvents } from "../testing/transports.js";

const WAIT = { timeout: 10_000, interval: 50 };

const shared = aroundEachTest();

/** Starts a gateway whose agent changes the state of the page for as long as `goesOn` says. */
async function start(beside?: Served, goesOn: () => boolean = () => false): Promise<Served> {
  const served = await startServed(
    ({ body }) => ({
      pieces: (async function* () {
        const ids = idsOf(body);
        yield sseFrame({ type: "RUN_STARTED", ...ids });
        for (let count = 0; count === 0 || goesOn(); count++) {
          yield sseFrame({ type: "STATE_SNAPSHOT", snapshot: { count } });
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        yield sseFrame({ type: "RUN_FINISHED", ...ids });
      })(),
    }),
    {
      policy: CHAT_POLICY,
      config: `receipts: { store: "${shared.database.url}" }\ncapabilities: { revocations: revoked.jsonl }\n`,
      ...(beside === undefined ? {} : { beside }),
    },
  );
  shared.open.push(served);
  return served;
}

/** Every client is anonymous here, so no session has an owner. */
const unowned = (token: string): object => ({ token, allow_unowned_session: true });

const post = (served: Served, path: string, body: object): Promise<Response> =>
  served.control(path, { method: "POST", body: JSON.stringify(body) });

async function issue(served: Served): Promise<{ id: string; token: string }> {
  const grant = { agent: "support", session_id: "s1", scopes: ["ui:*:*"], attach: false };
  const body = { ...grant, allow_unowned_session: true };
  return (await (await post(served, "/v1/capabilities", body)).json()) as {
    id: string;
    token: string;
  };
}

async function ask(served: Served, runId: string): Promise<Response> {
  return fetch(`${served.running.dataUrl}/agents/support?session=s1`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId: `t-${runId}`, runId, messages: [] }),
  });
}

test("a token revoked at one gateway is invalid on a stream that is open at another, and after any restart", async () => {
  let isGoingOn = true;
  const first = await start();
  const second = await start(first, () => isGoingOn);
  const { id, token } = await issue(first);
  // Tokens handed to a session are known to one gateway; the test hands it to this one.
  expect((await post(second, "/v1/sessions/s1/capabilities", unowned(token))).status).toBe(202);
  const stream = await ask(second, "r1");
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  let seen = "";
  const reading = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      seen += new TextDecoder().decode(value);
    }
  })();
  await vi.waitFor(() => expect(seen).toContain("STATE_SNAPSHOT"), WAIT);
  expect((await post(first, "/v1/capabilities/revoke", { id })).status).toBe(200);
  await vi.waitFor(() => expect(second.running.tokens.revocations.count).toBe(1), WAIT);
  // Events in flight were judged before; from the next event on nothing arrives.
  const states = (): number =>
    sseEvents(seen).filter(({ type }) => type === "STATE_SNAPSHOT").length;
  let then = -1;
  await vi.waitFor(
    () => {
      const before = then;
      then = states();
      expect(then).toBe(before);
    },
    { timeout: 10_000, interval: 300 },
  );
  isGoingOn = false;
  await reading;
  expect(states()).toBe(then);
  expect(sseEvents(seen).at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  // Each gateway has its own file, and writes only the revocations that it received itself.
  expect(await readFile(join(first.folder, "revoked.jsonl"), "utf8")).toContain(id);

  // A gateway that starts later knows it before its first request.
  const third = await start(first);
  expect(third.running.tokens.revocations.count).toBe(1);
  await post(third, "/v1/sessions/s1/capabilities", unowned(token));
  expect(await (await ask(third, "r2")).text()).not.toContain("STATE_SNAPSHOT");
}, 60_000);

test("the row of a revoked token gets its expiry once the gateway that issued it reads it, whichever gateway revoked it", async () => {
  const first = await start();
  const second = await start(first);
  const { id } = await issue(first);
  await post(second, "/v1/capabilities/revoke", { id });
  await post(second, "/v1/capabilities/revoke", { id: "of somebody else" });
  const client = new Client({ connectionString: shared.database.url });
  await client.connect();
  await vi.waitFor(async () => {
    const { rows } = await client.query(
      "SELECT capability_id AS id, expires_at > revoked_at AS ends FROM countersign_revocations ORDER BY serial",
    );
    expect(rows).toEqual([
      { id, ends: true },
      { id: "of somebody else", ends: null },
    ]);
  }, WAIT);
  await client.end();
}, 60_000);

test("without the database a revocation is not confirmed, is in effect here, and staleness is logged once", async () => {
  const served = await start();
  await post(served, "/v1/capabilities/revoke", { id: "cap-1" });
  await shared.database.crash();
  const stale = async (): Promise<unknown> =>
    valueOf(
      readScrape(await (await served.control("/metrics")).text()),
      "countersign_revocations_stale",
    );
  await vi.waitFor(() => expect(served.running.tokens.revocations.isStale).toBe(true), WAIT);
  const refused = await post(served, "/v1/capabilities/revoke", { id: "cap-2" });
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ code: "ERR_REVOCATIONS_UNAVAILABLE" });
  expect(served.running.tokens.revocations.count).toBe(2);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const lines = (): unknown[] => served.lines.filter(({ code }) => code === "REVOCATIONS_KEPT");
  expect(lines()).toHaveLength(1);
  await shared.database.start();
  await vi.waitFor(async () => expect(await stale()).toBe(0), WAIT);
  expect((await post(served, "/v1/capabilities/revoke", { id: "cap-2" })).status).toBe(200);
  expect(served.lines.some(({ msg }) => msg === "the database of revocations responds again")).toBe(
    true,
  );
}, 60_000);
