import type { LogEntry } from "@countersign/receipts";
import { Client } from "pg";
import { expect, test, vi } from "vitest";
import { OPEN_POLICY } from "../testing/fixture.js";
import { HELD_AGENT } from "../testing/held-agent.js";
import { startServed } from "../testing/served.js";
import { aroundEachTest } from "../testing/shared-database.js";

const shared = aroundEachTest();

test("a run that an order ends has a receipt even if no gateway waits for the answer, and only under a sealed name", async () => {
  const served = await startServed(HELD_AGENT, {
    policy: OPEN_POLICY,
    config: `receipts: { store: "${shared.database.url}" }\n`,
  });
  shared.open.push(served);
  const stream = await fetch(`${served.running.dataUrl}/agents/support?session=s1`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId: "t1", runId: "held-1", messages: [] }),
  });
  // An order as an older gateway writes it, which has left since.
  const client = new Client({ connectionString: shared.database.url });
  await client.connect();
  await client.query(
    `INSERT INTO countersign_orders (log, id, asker, body, made_at)
     SELECT log, 'order-1', 'gone', $1, seen_at FROM countersign_gateways`,
    [JSON.stringify({ kind: "stop", stop: { session: "s1" } })],
  );
  await client.end();
  expect(await stream.text()).toContain("RUN_STOPPED");
  await vi.waitFor(
    async () => {
      const answer = await served.control("/v1/receipts?run_id=held-1&rule=gateway/operator-stop");
      const { entries } = (await answer.json()) as { entries: LogEntry[] };
      expect(entries).toMatchObject([
        {
          thread_id: "t1",
          receipt: { agent_id: "support", denial_reason: "stopped by operator <unknown>" },
        },
      ]);
    },
    { timeout: 10_000, interval: 50 },
  );
}, 60_000);
