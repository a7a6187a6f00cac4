import { sseFrame } from "@countersign/testkit";
import { expect, test, vi } from "vitest";
import { idsOf } from "../testing/events.js";
import { CHAT_POLICY } from "../testing/fixture.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { aroundEachTest } from "../testing/shared-database.js";
import { sseEvents } from "../testing/transports.js";

const shared = aroundEachTest();

/** Starts a gateway whose agent changes the page as often as the run id says, in one write. */
async function start(
  beside?: Served,
  store = shared.database.url,
  policy = CHAT_POLICY,
): Promise<Served> {
  const served = await startServed(
    ({ body }) => {
      const ids = idsOf(body);
      const [, times = "1"] = ids.runId.split("x");
      const states = Array.from({ length: Number(times) }, (_, count) => ({
        type: "STATE_SNAPSHOT",
        snapshot: { count },
      }));
      const events = [{ type: "RUN_STARTED", ...ids }, ...states, { type: "RUN_FINISHED", ...ids }];
      return { pieces: [events.map(sseFrame).join("")] };
    },
    {
      policy,
      config: `receipts: { store: "${store}" }\n`,
      ...(beside === undefined ? {} : { beside }),
    },
  );
  shared.open.push(served);
  return served;
}

async function issue(served: Served, maxEvents: number): Promise<string> {
  const grant = { agent: "support", scopes: ["ui:*:*"], max_events: maxEvents };
  const body = { ...grant, allow_unowned_session: true };
  const answer = await served.control("/v1/capabilities", {
    method: "POST",
    body: JSON.stringify(body),
  });
  return ((await answer.json()) as { token: string }).token;
}

async function hand(served: Served, session: string, token: string): Promise<void> {
  const init = { method: "POST", body: JSON.stringify({ token, allow_unowned_session: true }) };
  expect((await served.control(`/v1/sessions/${session}/capabilities`, init)).status).toBe(202);
}

/** How many changes of the page of a run are forwarded. */
async function changes(served: Served, session: string, runId: string): Promise<number> {
  const answer = await fetch(`${served.running.dataUrl}/agents/support?session=${session}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId: `t-${runId}`, runId, messages: [] }),
  });
  const events = sseEvents(await answer.text());
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  return events.filter(({ type }) => type === "STATE_SNAPSHOT").length;
}

test("two gateways forward as many events as a capability has and no more, in sequence and concurrently", async () => {
  const first = await start();
  const second = await start(first);
  const token = await issue(first, 10);
  for (const served of [first, second]) await hand(served, "s1", token);
  expect(await changes(first, "s1", "ax4")).toBe(4);
  // Right after the run at the other gateway: its unused events were given back.
  expect(await changes(second, "s1", "bx4")).toBe(4);
  expect(await changes(first, "s1", "cx4")).toBe(2);
  expect(await changes(second, "s1", "dx4")).toBe(0);

  const busy = await issue(first, 100);
  for (const served of [first, second]) await hand(served, "s2", busy);
  const counts = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      changes(index % 2 === 0 ? first : second, "s2", `e${index}x20`),
    ),
  );
  const sum = counts.reduce((one, other) => one + other, 0);
  expect(sum).toBeLessThanOrEqual(100);
  // The events that one held while another was refused are still there for the next.
  const rest = await changes(second, "s2", "fx160");
  expect(sum + rest).toBe(100);
}, 60_000);

test("a restarted or new gateway knows how many events were used", async () => {
  const first = await start();
  const token = await issue(first, 5);
  await hand(first, "s1", token);
  expect(await changes(first, "s1", "ax3")).toBe(3);
  await first.running.close();
  const second = await start(first);
  await hand(second, "s1", token);
  expect(await changes(second, "s1", "bx4")).toBe(2);
  await second.running.close();
  const third = await start(first);
  await hand(third, "s1", token);
  expect(await changes(third, "s1", "cx1")).toBe(0);
}, 60_000);

test("without the database only reserved events of a limited capability are forwarded, and all are with it again", async () => {
  const first = await start();
  const token = await issue(first, 1000);
  await hand(first, "s1", token);
  expect(await changes(first, "s1", "ax3")).toBe(3);
  const { tokens } = first.running;
  const context = { agent: "support", sessionId: "s1" };
  await tokens.verifier.reserve?.(token, context, 1);
  await shared.database.crash();
  let opened = 0;
  for (let event = 0; event < 1000; event += 1) {
    const facts = tokens.verifier.evaluate(token, context);
    if (facts.status !== "valid") break;
    tokens.verifier.spend(facts);
    opened += 1;
  }
  await tokens.verifier.reserve?.(token, context, 1);
  expect(opened).toBeGreaterThan(0);
  expect(opened).toBeLessThanOrEqual(256);
  expect(tokens.verifier.evaluate(token, context).status).toBe("exhausted");
  expect(first.lines.filter(({ code }) => code === "BUDGETS_KEPT")).toHaveLength(1);
  await shared.database.start();
  await vi.waitFor(
    async () => {
      await tokens.verifier.reserve?.(token, context, 1);
      expect(tokens.verifier.evaluate(token, context).status).toBe("valid");
    },
    { timeout: 10_000, interval: 100 },
  );
}, 60_000);

test("the only gateway of an embedded store knows after a restart how many events were used", async () => {
  const first = await start(undefined, "sqlite:receipts");
  const token = await issue(first, 5);
  await hand(first, "s1", token);
  expect(await changes(first, "s1", "ax3")).toBe(3);
  await first.running.close();
  const second = await start(first, `sqlite:${first.folder}/receipts`);
  await hand(second, "s1", token);
  expect(await changes(second, "s1", "bx4")).toBe(2);
  expect(await changes(second, "s1", "cx1")).toBe(0);
}, 60_000);

test("a client that presents another principal's token reserves none of its events", async () => {
  const served = await start();
  const body = { agent: "support", session_id: "mine", scopes: ["ui:*:*"], max_events: 3 };
  const init = {
    method: "POST",
    body: JSON.stringify({ ...body, attach: false, allow_unowned_session: true }),
  };
  const issued = await (await served.control("/v1/capabilities", init)).json();
  const { token } = issued as { token: string };
  const { verifier } = served.running.tokens;
  expect(verifier.reserve?.(token, { agent: "support", sessionId: "other" }, 3)).toBeUndefined();
  expect(verifier.reserve?.(token, { agent: "other", sessionId: "mine" }, 3)).toBeUndefined();
  await verifier.reserve?.(token, { agent: "support", sessionId: "mine" }, 3);
  expect(verifier.evaluate(token, { agent: "support", sessionId: "mine" }).status).toBe("valid");
});
