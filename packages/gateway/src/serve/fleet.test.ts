import type { ControlRun, ControlSession } from "@countersign/core";
import type { LogEntry } from "@countersign/receipts";
import { sseFrame } from "@countersign/testkit";
import { expect, test, vi } from "vitest";
import { idsOf } from "../testing/events.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { aroundEachTest } from "../testing/shared-database.js";
import { sseEvents } from "../testing/transports.js";

const WAIT = { timeout: 10_000, interval: 50 };

const shared = aroundEachTest();

/** Starts a gateway whose agent runs until its connection closes, except on threads named `short`. */
async function start(beside?: Served): Promise<Served> {
  const served = await startServed(
    ({ body, signal }) => ({
      pieces: (async function* () {
        const ids = idsOf(body);
        yield sseFrame({ type: "RUN_STARTED", ...ids });
        for (let count = 0; !ids.threadId.startsWith("short") && !signal.aborted; count += 1) {
          yield sseFrame({ type: "STATE_SNAPSHOT", snapshot: { count } });
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        yield sseFrame({ type: "RUN_FINISHED", ...ids });
      })(),
    }),
    {
      policy: OPEN_POLICY,
      config: `receipts: { store: "${shared.database.url}" }\n`,
      ...(beside === undefined ? {} : { beside }),
    },
  );
  shared.open.push(served);
  return served;
}

function runAt(
  served: Served,
  session: string,
  threadId: string,
  runId: string,
): Promise<Response> {
  return fetch(`${served.running.dataUrl}/agents/support?session=${session}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId, runId, messages: [] }),
  });
}

async function ask<Body>(served: Served, path: string, method = "GET"): Promise<[number, Body]> {
  const answer = await served.control(path, { method });
  return [answer.status, (await answer.json()) as Body];
}

type Runs = { runs: (ControlRun & { session_id: string })[]; partial?: true };
type Sessions = { sessions: ControlSession[]; partial?: true };
type Status = { gateway: string; gateways: { id: string; runs_open: number }[] };

const nameOf = async (served: Served): Promise<string> =>
  (await ask<Status>(served, "/v1/status"))[1].gateway;

test("a run can be stopped through any gateway as soon as it began, and its client is told", async () => {
  const first = await start();
  const second = await start(first);
  const stream = await runAt(second, "s1", "t1", "r1");
  const from = performance.now();
  const [status, body] = await ask(first, "/v1/sessions/s1/runs/r1/stop", "POST");
  expect([status, body]).toEqual([
    202,
    { run_id: "r1", status: "stopped", gateway: await nameOf(second) },
  ]);
  expect(sseEvents(await stream.text()).at(-1)).toMatchObject({ type: "RUN_ERROR" });
  expect(performance.now() - from).toBeLessThan(8000);
  // Every gateway knows how it ended.
  await vi.waitFor(async () => {
    const [, { runs }] = await ask<Runs>(first, "/v1/runs?status=stopped");
    expect(runs).toMatchObject([{ run_id: "r1", session_id: "s1", gateway: await nameOf(second) }]);
  }, WAIT);
  // The log names the operator who ended it.
  const [, found] = await ask<{ entries: LogEntry[] }>(
    first,
    "/v1/receipts?run_id=r1&allowed=false",
  );
  expect(found.entries).toMatchObject([
    { rule: "gateway/operator-stop", thread_id: "t1", receipt: { agent_id: "support" } },
  ]);
  expect(found.entries[0]?.receipt.denial_reason).toMatch(
    /^stopped by operator admin-[0-9a-f]{8}$/u,
  );
  expect((await ask(first, "/v1/sessions/s1/runs/r1/stop", "POST"))[0]).toBe(409);
  expect((await ask(first, "/v1/sessions/s1/runs/r9/stop", "POST"))[0]).toBe(404);
  // An order is executed once: the same session continues, and so does a run that started later.
  const next = await runAt(second, "s1", "t1", "r2");
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect((await ask<Runs>(second, "/v1/runs?status=running"))[1].runs).toHaveLength(1);
  const [stopped, all] = await ask<{ stopped: object[] }>(first, "/v1/sessions/s1/stop", "POST");
  expect([stopped, all.stopped]).toEqual([202, [{ run_id: "r2", gateway: await nameOf(second) }]]);
  await next.text();
}, 60_000);

test("a session's runs at several gateways are one session, and are stopped together", async () => {
  const first = await start();
  const second = await start(first);
  const streams = [await runAt(first, "s1", "t1", "r1"), await runAt(second, "s1", "t2", "r2")];
  const names = [await nameOf(first), await nameOf(second)];
  for (const served of [first, second]) {
    await vi.waitFor(async () => {
      const [, { sessions }] = await ask<Sessions>(served, "/v1/sessions");
      expect(sessions).toHaveLength(1);
      expect(sessions[0]?.gateways.toSorted()).toEqual(names.toSorted());
      const [, one] = await ask<ControlSession>(served, "/v1/sessions/s1");
      const at = new Map(one.runs.map((run) => [run.run_id, run.gateway]));
      expect(at).toEqual(
        new Map([
          ["r1", names[0]],
          ["r2", names[1]],
        ]),
      );
      const [, { gateways }] = await ask<Status>(served, "/v1/status");
      expect(gateways.map(({ runs_open: runs }) => runs)).toEqual([1, 1]);
    }, WAIT);
  }
  const [, { stopped }] = await ask<{ stopped: object[] }>(first, "/v1/sessions/s1/stop", "POST");
  expect(stopped).toHaveLength(2);
  for (const stream of streams) {
    expect(sseEvents(await stream.text()).at(-1)).toMatchObject({ type: "RUN_ERROR" });
  }
}, 60_000);

test("a client stops its own run through any gateway, and no other client's", async () => {
  const first = await start();
  const second = await start(first);
  const stream = await runAt(second, "s1", "t1", "r1");
  const stop = async (session: string | undefined, body: object): Promise<unknown> => {
    const query = session === undefined ? "" : `?session=${session}`;
    const answer = await fetch(`${first.running.dataUrl}/ag-ui/stop${query}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return answer.json();
  };
  expect(await stop("s2", { runId: "r1" })).toEqual({ stopped: [] });
  expect(await stop(undefined, { runId: "r1" })).toEqual({ stopped: [] });
  expect(await stop("s1", { runId: ["r1"] })).toEqual({ stopped: [] });
  expect(await stop("s1", { threadId: "t1" })).toEqual({ stopped: ["r1"] });
  await stream.text();
  // Without a run, the stop is for the whole session: a run here does not hide a run elsewhere.
  const streams = [await runAt(first, "s1", "t2", "r2"), await runAt(second, "s1", "t3", "r3")];
  expect(await stop("s1", {})).toEqual({ stopped: ["r2", "r3"] });
  await Promise.all(streams.map((each) => each.text()));
}, 60_000);

test("a token handed to a session at one gateway is valid at the other once that is confirmed, and at those that start later", async () => {
  const first = await start();
  const second = await start(first);
  const grant = { agent: "support", session_id: "s1", scopes: ["ui:*:*"] };
  const body = { ...grant, allow_unowned_session: true };
  const init = { method: "POST", body: JSON.stringify(body) };
  const issued = await first.control("/v1/capabilities", init);
  expect(issued.status).toBe(201);
  expect(await issued.json()).not.toHaveProperty("partial");
  const tokensAt = ({ running }: Served): readonly object[] | undefined =>
    running.gateway.context.sessions.find("s1")?.tokens;
  expect(tokensAt(second)).toHaveLength(1);
  await second.running.close();
  expect(tokensAt(await start(first))).toEqual(tokensAt(first));
}, 60_000);

test("a gateway that leaves is no longer listed, and lists are marked partial without the database", async () => {
  const first = await start();
  const second = await start(first);
  await (await runAt(second, "s1", "short-1", "r1")).text();
  await (await runAt(first, "s2", "short-2", "r2")).text();
  await vi.waitFor(async () => {
    const [, { runs }] = await ask<Runs>(first, "/v1/runs");
    expect(runs.map(({ run_id: id }) => id).toSorted()).toEqual(["r1", "r2"]);
  }, WAIT);
  await second.running.close();
  const [, after] = await ask<Runs>(first, "/v1/runs");
  expect(after.runs.map(({ run_id: id }) => id)).toEqual(["r2"]);
  expect((await ask<Status>(first, "/v1/status"))[1].gateways).toHaveLength(1);

  await shared.database.crash();
  const [, alone] = await ask<Runs>(first, "/v1/runs");
  expect(alone).toMatchObject({ runs: [{ run_id: "r2" }], partial: true });
  const [status, body] = await ask(first, "/v1/sessions/s1/runs/r1/stop", "POST");
  expect([status, body]).toMatchObject([503, { code: "ERR_FLEET_UNAVAILABLE" }]);
  await shared.database.start();
  // The orders are lost with an unlogged table, and are written again.
  const third = await start(first);
  await vi.waitFor(async () => {
    const [, { runs }] = await ask<Runs>(third, "/v1/runs");
    expect(runs.map(({ run_id: id }) => id)).toEqual(["r2"]);
  }, WAIT);
}, 60_000);
