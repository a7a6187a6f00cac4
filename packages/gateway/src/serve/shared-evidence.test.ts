import { rm } from "node:fs/promises";
import { join } from "node:path";
import { sseFrame } from "@countersign/testkit";
import { Client } from "pg";
import { expect, test, vi } from "vitest";
import { idsOf, inRun, text } from "../testing/events.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { aroundEachTest } from "../testing/shared-database.js";
import { post } from "../testing/transports.js";

const shared = aroundEachTest();
const SECRET = "a payload that only evidence has";

async function start(evidence: string, beside?: Served): Promise<Served> {
  const served = await startServed(
    ({ body }) => ({ pieces: inRun(idsOf(body), text("m1", SECRET)).map(sseFrame) }),
    {
      config: `receipts: { store: "${shared.database.url}" }\n${evidence}`,
      ...(beside === undefined ? {} : { beside }),
    },
  );
  shared.open.push(served);
  return served;
}

const ON = "evidence: { keep: 1h, events: all }\n";

async function run(served: Served, id: string): Promise<void> {
  const url = `${served.running.dataUrl}/agents/support?session=s1`;
  await (await post(url, { threadId: `t-${id}`, runId: id })).text();
}

async function read(served: Served, id: string): Promise<string> {
  const response = await served.control(`/v1/runs/s1/${id}/evidence`);
  return response.text();
}

async function rows(sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: shared.database.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

test("gateways of one log read each other's copies, and the table has no text of a payload", async () => {
  const first = await start(ON);
  const second = await start(ON, first);
  await run(first, "r1");
  await run(second, "r2");
  for (const [served, id] of [
    [first, "r2"],
    [second, "r1"],
  ] as const) {
    await vi.waitFor(async () => expect(await read(served, id)).toContain(SECRET));
  }
  const kept = await rows("SELECT bytes FROM countersign_evidence");
  expect(kept.length).toBeGreaterThan(8);
  expect(kept.some(({ bytes }) => (bytes as Buffer).includes(SECRET))).toBe(false);
});

test("a gateway with another key does not start beside the first", async () => {
  const first = await start(ON);
  await run(first, "r1");
  await vi.waitFor(async () => expect(await read(first, "r1")).toContain(SECRET));
  await rm(join(first.folder, ".countersign", "keys", "evidence.key"));
  await expect(start(ON, first)).rejects.toMatchObject({ code: "ERR_EVIDENCE_KEY" });
});

test("a database that is lost costs copies and no event, and a copy of another entry is an error", async () => {
  const served = await start(ON);
  await run(served, "r1");
  await vi.waitFor(async () => expect(await read(served, "r1")).toContain(SECRET));
  await rows(
    `UPDATE countersign_evidence SET bytes = (SELECT bytes FROM countersign_evidence ORDER BY seq LIMIT 1)
     WHERE seq = (SELECT max(seq) FROM countersign_evidence)`,
  );
  const swapped = await read(served, "r1");
  expect(swapped).toContain("ERR_EVIDENCE_DAMAGED");
  await rows("DROP TABLE countersign_evidence");
  await run(served, "r2");
  await vi.waitFor(async () => {
    const status = (await (await served.control("/v1/status")).json()) as { evidence: object };
    expect(status.evidence).toMatchObject({ failing: true, failed: 6 });
  });
  expect((await served.control("/v1/runs/s1/r2/evidence")).status).toBe(503);
});

test("without evidence in the configuration the table is absent", async () => {
  await run(await start(""), "r1");
  const [table] = await rows("SELECT to_regclass('countersign_evidence') AS found");
  expect(table).toEqual({ found: null });
});
