import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { inspectEvidence } from "./open-evidence.js";
import { createOperatorToken } from "../access/operators.js";
import { loadConfig } from "../config/load.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { post } from "../testing/transports.js";

const SECRET = "a payload that only evidence has";
const BLOCKING = `hushspec: "0.1.0"
name: blocking
rules:
  ag_ui:
    enabled: true
    allow_display_without_capability: true
    restricted_classifications: [mutate]
  ag_ui_inbound: { enabled: true, default: allow }
`;

const CHANGE = {
  type: "STATE_DELTA",
  delta: [{ op: "add", path: "/secret", value: SECRET }],
};

let open: Served[] = [];
afterEach(async () => {
  for (const served of open.toReversed()) await served.stop();
  open = [];
});

/** A gateway whose agent says a secret, and changes the state with it, which is blocked. */
async function start(
  config: string,
  options: { control?: string; policy?: string; beside?: Served } = {},
): Promise<Served> {
  const served = await startServed(
    ({ body }) => ({
      pieces: inRun(idsOf(body), [...text("m1", SECRET), CHANGE]).map(sseFrame),
    }),
    { config, policy: BLOCKING, ...options },
  );
  open.push(served);
  return served;
}

/** Another gateway on the store and the keys of one that has stopped. */
function startAgain(before: Served, config: string): Promise<Served> {
  const inside = join(before.folder, ".countersign");
  const places = `receipts: { store: "sqlite:${inside}/receipts" }\nkeys: { directory: ${inside}/keys }\n`;
  return start(`${places}${config}`, { beside: before });
}

async function run(served: Served, id: string): Promise<string> {
  const url = `${served.running.dataUrl}/agents/support?session=s1`;
  return (await post(url, { threadId: `t-${id}`, runId: id })).text();
}

type Item = { seq: number; payload: JsonValue; [member: string]: unknown };

async function evidenceOf(served: Served, id: string, expected: number): Promise<Item[]> {
  return vi.waitFor(async () => {
    const response = await served.control(`/v1/runs/s1/${id}/evidence`);
    const { items } = (await response.json()) as { items: Item[] };
    expect(items).toHaveLength(expected);
    return items;
  });
}

test("a blocked payload is read back as it was hashed, and each read is a receipt of the operator", async () => {
  const served = await start("evidence: { keep: 1h }");
  expect(await run(served, "r1")).not.toContain("/secret");
  const [item] = await evidenceOf(served, "r1", 1);
  expect(item?.payload).toMatchObject({ type: "STATE_DELTA", delta: [{ value: SECRET }] });
  const query = await served.control("/v1/receipts?run_id=r1&allowed=false");
  const { entries } = (await query.json()) as {
    entries: { seq: number; receipt: { id: string; payload_hash: string } }[];
  };
  expect(entries).toMatchObject([{ seq: item?.seq }]);
  const payloadHash = sha256Hex(canonicalJson(item?.payload as JsonValue));
  expect(payloadHash).toBe(entries[0]?.receipt.payload_hash);
  for (const which of [item?.seq, entries[0]?.receipt.id]) {
    const one = await served.control(`/v1/receipts/${String(which)}/evidence`);
    expect(await one.json()).toEqual(item);
  }
  const acts = await served.control("/v1/receipts?event_type=custom:operator.evidence-read");
  const reads = (await acts.json()) as { entries: { receipt: { target: object } }[] };
  expect(reads.entries.length).toBeGreaterThanOrEqual(3);
  expect(reads.entries[0]?.receipt.target).toMatchObject({ component_type: "operator" });
});

test("a viewer is refused, and nothing is read without a receipt", async () => {
  const viewer = createOperatorToken();
  const served = await start("evidence: { keep: 1h }", {
    control: `operators:\n  - { name: vi, role: viewer, token: "${viewer.hash}" }\n`,
  });
  await run(served, "r1");
  await evidenceOf(served, "r1", 1);
  for (const path of ["/v1/runs/s1/r1/evidence", "/v1/receipts/1/evidence"]) {
    const headers = { authorization: `Bearer ${viewer.key}` };
    const refused = await fetch(served.running.controlUrl + path, { headers });
    expect([refused.status, await refused.json()]).toMatchObject([
      403,
      { code: "ERR_CONTROL_ROLE" },
    ]);
  }
  await served.running.receipts.log.close();
  const unsigned = await served.control("/v1/runs/s1/r1/evidence");
  expect(unsigned.status).toBe(503);
  expect(await unsigned.text()).not.toContain(SECRET);
});

test("evidence is off unless it is configured: no file, no key, no status, and a reader is told", async () => {
  const served = await start("");
  await run(served, "r1");
  const inside = join(served.folder, ".countersign");
  expect(existsSync(join(inside, "receipts", "evidence"))).toBe(false);
  expect(existsSync(join(inside, "keys", "evidence.key"))).toBe(false);
  const status = (await (await served.control("/v1/status")).json()) as object;
  expect(status).not.toHaveProperty("evidence");
  const read = await served.control("/v1/runs/s1/r1/evidence");
  expect([read.status, await read.json()]).toMatchObject([404, { code: "EVIDENCE_OFF" }]);
});

test("all payloads are read in pages, requests and what the person saw too, and none is in the log lines", async () => {
  const served = await start("evidence: { keep: 1h, events: all }");
  await run(served, "r1");
  const all = await evidenceOf(served, "r1", 7);
  expect(all.map(({ payload }) => (payload as { type?: string }).type ?? "request")).toEqual([
    "request",
    "RUN_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "STATE_DELTA",
    "RUN_FINISHED",
  ]);
  const pages: Item[] = [];
  let cursor = "";
  do {
    const response = await served.control(`/v1/runs/s1/r1/evidence?limit=3${cursor}`);
    const page = (await response.json()) as { items: Item[]; cursor?: string };
    pages.push(...page.items);
    cursor = page.cursor === undefined ? "" : `&cursor=${encodeURIComponent(page.cursor)}`;
  } while (cursor !== "");
  expect(pages).toEqual(all);
  expect(JSON.stringify(served.lines)).not.toContain(SECRET);
  const metrics = await (await served.control("/metrics")).text();
  expect(metrics).toContain('countersign_evidence_records_total{result="kept"} 7');
  const status = (await (await served.control("/v1/status")).json()) as { evidence: object };
  expect(status.evidence).toMatchObject({ events: "all", kept: 7, records: 7, failing: false });
});

test("a redaction of the policy holds for what is kept", async () => {
  const served = await start("evidence: { keep: 1h }", {
    policy: `${BLOCKING}  ag_ui_evidence: { redact: [secret] }\n`,
  });
  await run(served, "r1");
  const [item] = await evidenceOf(served, "r1", 1);
  expect(item).toMatchObject({
    payload: { delta: [{ path: "/secret", value: "[redacted]" }] },
    redacted: ["/delta/0/value"],
  });
});

test("copies survive a restart; without their key the gateway does not start, and a retired key reads them", async () => {
  const served = await start("evidence: { keep: 1h }");
  await run(served, "r1");
  const before = await evidenceOf(served, "r1", 1);
  await served.running.close();
  const keys = join(served.folder, ".countersign", "keys");
  const again = (): Promise<Served> => startAgain(served, "evidence: { keep: 1h }");
  await rename(join(keys, "evidence.key"), join(served.folder, "evidence.key"));
  await expect(again()).rejects.toMatchObject({ code: "ERR_EVIDENCE_KEY" });
  const store = `sqlite:${served.folder}/.countersign/receipts`;
  const checked = loadConfig(
    `agents:\n  a:\n    url: http://127.0.0.1:1/\nreceipts: { store: "${store}" }\nevidence: { keep: 2d }\n`,
    { file: "countersign.yaml", environment: {} },
  );
  await expect(inspectEvidence({ ...checked, keyDirectory: keys })).rejects.toMatchObject({
    code: "ERR_EVIDENCE_KEY",
  });
  expect(existsSync(join(keys, "evidence.key"))).toBe(false);
  await rename(join(served.folder, "evidence.key"), join(keys, "evidence-old.key"));
  const rotated = await again();
  expect(existsSync(join(keys, "evidence.key"))).toBe(true);
  expect(await evidenceOf(rotated, "r1", 1)).toEqual(before);
  const says = await inspectEvidence({ ...checked, keyDirectory: keys });
  expect(says).toBe("blocked payloads for 48 hours, at most 1024 MiB");
  await run(rotated, "r2");
  await evidenceOf(rotated, "r2", 1);
  await rotated.running.close();
  const lines = (await startAgain(served, "")).lines;
  expect(lines).toContainEqual(expect.objectContaining({ code: "EVIDENCE_LEFT" }));
});

test("copies are removed by time and by size, and the newest stay", async () => {
  const served = await start("evidence: { keep: 1h, events: all, max_bytes: 1048576 }");
  await run(served, "r1");
  await evidenceOf(served, "r1", 7);
  const large = `${"x".repeat(400_000)}`;
  for (const id of ["r2", "r3", "r4", "r5"]) {
    const url = `${served.running.dataUrl}/agents/support?session=s1`;
    const body = { threadId: id, runId: id, messages: [{ id, role: "user", content: large }] };
    await (await post(url, body)).text();
  }
  await vi.waitFor(async () => {
    const status = (await (await served.control("/v1/status")).json()) as {
      evidence: { bytes: number };
    };
    expect(status.evidence.bytes).toBeLessThanOrEqual(1_048_576);
  });
  await evidenceOf(served, "r1", 0);
  await evidenceOf(served, "r5", 7);
});

test("a copy cannot be kept longer than its receipt", () => {
  const load = (receipts: string): unknown =>
    loadConfig(
      `agents:\n  a:\n    url: http://127.0.0.1:1/\nreceipts: { keep: ${receipts} }\nevidence: { keep: 3d }\n`,
      { file: "countersign.yaml", environment: {} },
    ).evidence;
  expect(load("72h")).toMatchObject({ keepMs: 3 * 86_400_000, events: "blocked" });
  expect(() => load("71h")).toThrow("cannot be kept longer");
});
