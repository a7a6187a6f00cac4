import { expect, test } from "vitest";
import { codeOf, finishRun, openRun, untilReady } from "./harness/client.js";
import { countersign } from "./harness/command.js";
import { startIn } from "./harness/gateway.js";
import type { GatewayProcess } from "./harness/gateway.js";
import { bearer, control, startPair } from "./harness/pair.js";
import type { Pair } from "./harness/pair.js";
import { pause, report, scaled, until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();

/** A token in a session of a gateway, and a stream there that lives on it. */
async function openChanging(pair: Pair, at: 0 | 1, session: string) {
  const grant = { agent: "support", session_id: session, scopes: ["ui:*:*"], expires_in: 3600 };
  const body = { ...grant, allow_unowned_session: true };
  const issued = await control(pair, at, "/v1/capabilities", body);
  expect(issued.status).toBe(201);
  const { id, token } = (await issued.json()) as { id: string; token: string };
  let last = 0;
  let count = 0;
  const run = openRun(pair.gateways[at].url, {
    path: `/agents/support?session=${session}`,
    threadId: `changing-${session}`,
    headers: bearer("alice"),
    onEvent: ({ type }) => {
      if (type !== "STATE_SNAPSHOT") return;
      last = performance.now();
      count += 1;
    },
  });
  await until("the page changes", () => count > 5);
  return { id, token, run, last: () => last };
}

/** Milliseconds from now until the page changed for the last time. */
async function untilStill(last: () => number): Promise<number> {
  const from = performance.now();
  await until("the page stands still", () => performance.now() - Math.max(last(), from) > 1500);
  return Math.max(0, last() - from);
}

async function ticketAt({ url }: GatewayProcess, session: string): Promise<string> {
  const asked = { method: "POST", headers: bearer("alice") };
  const answer = await fetch(`${url}/ag-ui/tickets?session=${session}`, asked);
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { url: string }).url;
}

async function redeemAt({ url }: GatewayProcess, ticket: string): Promise<number> {
  const answer = await fetch(`${url}${ticket}`);
  await answer.text();
  return answer.status;
}

test("a token revoked at one process is dead at the other within a second, by API and by command, and after a start", async () => {
  const pair = await startPair(scene);
  const [first] = pair.gateways;
  const times: number[] = [];
  for (let round = 0; round < scaled(2, 10); round += 1) {
    const { id, run, last } = await openChanging(pair, 1, `s-${round}`);
    expect((await control(pair, 0, "/v1/capabilities/revoke", { id })).status).toBe(200);
    times.push(await untilStill(last));
    run.abort();
    await run.ended;
  }
  report(`revoked at one, still at the other after ${times.map(Math.round).join(", ")} ms`);
  // The thorough run has the machine for itself.
  expect(Math.max(...times)).toBeLessThan(scaled(15_000, 1000));

  const commanded = await openChanging(pair, 1, "commanded");
  await countersign(pair.directories[0], "capability", "revoke", commanded.id);
  await untilStill(commanded.last);
  commanded.run.abort();

  // Revoked while a gateway is down: known before its first request.
  const missed = await openChanging(pair, 1, "missed");
  await first.kill();
  expect((await control(pair, 1, "/v1/capabilities/revoke", { id: missed.id })).status).toBe(200);
  missed.run.abort();
  pair.gateways[0] = await startIn(scene, pair.directories[0]);
  const { token } = missed;
  await control(pair, 0, "/v1/sessions/missed/capabilities", {
    token,
    allow_unowned_session: true,
  });
  let seen = 0;
  const after = openRun(pair.gateways[0].url, {
    path: "/agents/support?session=missed",
    threadId: "changing-after",
    headers: bearer("alice"),
    onEvent: ({ type }) => void (seen += type === "STATE_SNAPSHOT" ? 1 : 0),
  });
  await until("the agent was asked", () => after.status === 200);
  await pause(500);
  expect(seen).toBe(0);
  after.abort();
}, 120_000);

test("a ticket outlives the gateway that issued it, and is taken once by two processes, whatever is killed", async () => {
  const pair = await startPair(scene);
  const [first, second] = pair.gateways;
  for (let round = 0; round < scaled(3, 30); round += 1) {
    const ticket = await ticketAt(pair.gateways[round % 2] as GatewayProcess, `race-${round}`);
    const statuses = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        redeemAt(pair.gateways[index % 2] as GatewayProcess, ticket),
      ),
    );
    expect(statuses.toSorted()).toEqual([200, ...Array.from({ length: 15 }, () => 401)]);
  }
  const [used, kept, late] = [
    await ticketAt(first, "used"),
    await ticketAt(first, "kept"),
    await ticketAt(first, "late"),
  ];
  expect(await redeemAt(first, used)).toBe(200);
  await first.kill();
  expect(await redeemAt(second, used)).toBe(401);
  expect(await redeemAt(second, kept)).toBe(200);
  // Of a session that is used elsewhere nobody else gets hold, and no restart forgets it.
  const foreign = { path: "/agents/support?session=kept", headers: bearer("bob") };
  expect(codeOf(await finishRun(second.url, foreign))).toBe("ERR_ACCESS_SESSION");
  const again = await startIn(scene, pair.directories[0]);
  expect(codeOf(await finishRun(again.url, foreign))).toBe("ERR_ACCESS_SESSION");

  // Without the database nobody can say whether a ticket was used.
  await pair.store.crash();
  expect(await redeemAt(second, late)).toBe(503);
  await pair.store.start();
  await untilReady(second.url);
  expect(await redeemAt(again, await ticketAt(second, "after"))).toBe(200);
  expect(await again.stop()).toBe(0);
  expect(await second.stop()).toBe(0);
}, 120_000);
