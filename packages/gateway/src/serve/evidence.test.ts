import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test, vi } from "vitest";
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

let open: Served[] = [];
afterEach(async () => {
  for (const served of open) await served.stop();
  open = [];
});

/** A gateway whose agent says a secret, and changes the state with it, which is blocked. */
async function start(config: string, control = "", policy = BLOCKING): Promise<Served> {
  const served = await startServed(
    ({ body }) => ({
      pieces: inRun(idsOf(body), [
        ...text("m1", SECRET),
        { type: "STATE_DELTA", delta: [{ op: "add", path: "/secret", value: SECRET }] },
      ]).map(sseFrame),
    }),
    { config, control, policy },
  );
  open.push(served);
  return served;
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
