import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { compilePolicy, loadPolicy } from "@countersign/policy";
import type { LogEntry } from "@countersign/receipts";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DecisionDraft } from "../event/recorder.js";
import { openEvidenceKeys } from "../keys/evidence-keys.js";
import type { EvidenceKeys } from "../keys/evidence-keys.js";
import { openSqliteEvidence } from "../store/sqlite/open-sqlite-evidence.js";
import type { EvidenceStore } from "../store/evidence-store.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { createMovedClock } from "../testing/keyed-store-contract.js";
import { sampleDraft } from "../testing/sample-draft.js";
import { createEvidenceKeeper } from "./keep-evidence.js";
import type { EvidenceKeeper, EvidenceKeeperOptions } from "./keep-evidence.js";
import { openEvidence } from "./read-evidence.js";
import type { EvidenceRead } from "./read-evidence.js";
import { createEvidenceSeal } from "./seal.js";

const seal = createEvidenceSeal("example.com/log");
const policyOf = (block: string) => compilePolicy(loadPolicy(`${OPEN_POLICY}${block}`));

let folder: string;
let keys: EvidenceKeys;
let store: EvidenceStore;
const lines: object[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-keeper-"));
  keys = await openEvidenceKeys(join(folder, "keys"));
  store = await openSqliteEvidence({ directory: join(folder, "evidence") });
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

function keeperOf(options: Partial<EvidenceKeeperOptions> = {}): EvidenceKeeper {
  const note = (facts: object, message: string): void => void lines.push({ ...facts, message });
  return createEvidenceKeeper({
    store,
    seal,
    key: keys.all[0] as EvidenceKeeperOptions["key"],
    events: "all",
    maxPayloadBytes: 1_000_000,
    policy: () => policyOf(""),
    clock: createMovedClock(),
    journal: { debug: note, info: note, warn: note, error: note },
    ...options,
  });
}

const draftOf = (payload: string, more: object = {}): DecisionDraft =>
  ({ ...sampleDraft("e"), payload_text: payload, ...more }) as DecisionDraft;

const entryOf = (seq: number, payload: string, emitted?: string): LogEntry =>
  ({
    seq,
    receipt: { payload_hash: sha256Hex(payload) },
    ...(emitted === undefined ? {} : { emitted_hash: sha256Hex(emitted) }),
  }) as unknown as LogEntry;

let next = 0;
/** Keeps payloads as the entries of a log, and reads them back. */
async function keepAndRead(
  keeper: EvidenceKeeper,
  drafts: readonly DecisionDraft[],
): Promise<EvidenceRead[]> {
  const recorded = drafts.map(() => ({ seq: next++, id: "" }));
  keeper.keep(drafts, recorded);
  await keeper.flush();
  const entries = drafts.map(({ payload_text: text = "", emitted_text: emitted }, index) =>
    entryOf(recorded[index]?.seq ?? -1, text, emitted),
  );
  return read(entries);
}

async function read(entries: readonly LogEntry[], keptSince = 0): Promise<EvidenceRead[]> {
  const rows = await store.read(entries.map(({ seq }) => seq));
  return openEvidence({ seal, keys: keys.all, keptSince }, entries, rows);
}

const json = fc.jsonValue().map((value) => canonicalJson(value as JsonValue));

test("every payload is read back as it was hashed, with the form that was sent, and is not in the files", async () => {
  const keeper = keeperOf();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(json, fc.option(json)), { minLength: 1 }), async (all) => {
      const drafts = all.map(([payload, emitted]) =>
        draftOf(payload, emitted === null ? {} : { emitted_text: emitted }),
      );
      const reads = await keepAndRead(keeper, drafts);
      expect(reads.map((one) => "copy" in one && one.copy)).toEqual(
        all.map(([payload, emitted]) => ({ payload, ...(emitted === null ? {} : { emitted }) })),
      );
    }),
    { numRuns: 20 },
  );
  const secret = "a payload that must not be in a file";
  await keepAndRead(keeper, [draftOf(JSON.stringify({ secret }))]);
  for (const name of await readdir(join(folder, "evidence"))) {
    const bytes = await readFile(join(folder, "evidence", name));
    expect([name, bytes.includes(secret), bytes.includes('"payload"')]).toEqual([
      name,
      false,
      false,
    ]);
  }
});

test("a swapped record, and one under the hash of another, are errors and never other content", async () => {
  const texts = ['{"a":1}', '{"b":2}'];
  const [one, other] = await keepAndRead(
    keeperOf(),
    texts.map((text) => draftOf(text)),
  );
  const rows = await store.read([one?.seq ?? -1, other?.seq ?? -1]);
  const swapped = rows.map((row, index) => ({ ...row, seq: rows[1 - index]?.seq ?? -1 }));
  const entries = rows.map(({ seq }, index) => entryOf(seq, texts[index] ?? ""));
  const opening = { seal, keys: keys.all, keptSince: 0 };
  const isDamaged = { problem: { code: "ERR_EVIDENCE_DAMAGED" } };
  expect(openEvidence(opening, entries, swapped)).toMatchObject([isDamaged, isDamaged]);
  const changed = entries.map(({ seq }) => entryOf(seq, "{}"));
  expect(openEvidence(opening, changed, rows)).toMatchObject([isDamaged, isDamaged]);
});

test("an expired copy is not read, also while it is still stored", async () => {
  const clock = createMovedClock();
  const payload = "{}";
  const [kept] = await keepAndRead(keeperOf({ clock }), [draftOf(payload)]);
  const entries = [entryOf(kept?.seq ?? -1, payload)];
  expect(await read(entries, clock.time)).toHaveLength(1);
  expect(await read(entries, clock.time + 1)).toEqual([]);
});

test("only payloads with a blocked part are kept, unless all are wanted, and none of operators", async () => {
  const allowed = draftOf('{"is":"allowed"}');
  const { receipt } = allowed;
  const blocked = draftOf('{"is":"blocked"}', {
    receipt: { ...receipt, allowed: false, denial_reason: "no" },
  });
  const partly = draftOf('{"is":"partly"}', {
    emitted_hash: sha256Hex("{}"),
    emitted_text: "{}",
  });
  const operator = draftOf('{"is":"operator"}', {
    receipt: { ...receipt, agent_id: "<operator>" },
  });
  const drafts = [allowed, blocked, partly, operator];
  const said = async (events: "blocked" | "all"): Promise<unknown[]> =>
    (await keepAndRead(keeperOf({ events }), drafts)).map(
      (one) => "copy" in one && (JSON.parse(one.copy.payload ?? "") as { is: string }).is,
    );
  expect(await said("blocked")).toEqual(["blocked", "partly"]);
  expect(await said("all")).toEqual(["allowed", "blocked", "partly"]);
});

test("a payload over the limit, or one that the policy excludes, leaves a record that says so", async () => {
  const facts = {
    source: "STATE_DELTA",
    direction: "outbound",
    eventType: "state_update",
    classification: "mutate",
    derived: "mutate",
  };
  const policy = policyOf("  ag_ui_evidence: { never: [{ classification: mutate }] }\n");
  const keeper = keeperOf({ maxPayloadBytes: 1024, policy: () => policy });
  const large = canonicalJson("ü".repeat(600));
  const reads = await keepAndRead(keeper, [
    draftOf(large),
    draftOf("{}", { facts }),
    draftOf("{}"),
  ]);
  expect(reads.map((one) => "copy" in one && one.copy)).toEqual([
    { omitted: "size" },
    { omitted: "policy" },
    { payload: "{}" },
  ]);
  expect(keeper.figures).toMatchObject({ kept: 1, omitted: 2 });
});

test("a redacted copy has marks and places, in both forms, and the secret is nowhere", async () => {
  const policy = policyOf("  ag_ui_evidence: { redact: [password] }\n");
  const keeper = keeperOf({ policy: () => policy });
  const payload = '{"password":"s3cret","user":"kim"}';
  const [one] = await keepAndRead(keeper, [draftOf(payload, { emitted_text: payload })]);
  const copy = '{"password":"[redacted]","user":"kim"}';
  expect(one).toMatchObject({ copy: { payload: copy, emitted: copy, redacted: ["/password"] } });
});

test("a full queue drops copies, counts them, says so once, and waits for nothing", async () => {
  lines.length = 0;
  const keeper = keeperOf({ maxQueued: 10_000 });
  const drafts = Array.from({ length: 50 }, () => draftOf(`"${"x".repeat(1000)}"`));
  const before = next;
  const reads = await keepAndRead(keeper, drafts);
  expect(next - before).toBe(50);
  expect(keeper.figures.dropped).toBe(50 - reads.length);
  expect(reads.length).toBeLessThan(10);
  expect(lines).toMatchObject([{ code: "EVIDENCE_DROPPED" }]);
  expect(JSON.stringify(lines)).not.toContain("xxxx");
});

test("copies of a store that fails are counted, and later ones are kept again", async () => {
  lines.length = 0;
  const closed = await openSqliteEvidence({ directory: join(folder, "closed") });
  await closed.close();
  let used: Pick<EvidenceStore, "write"> = closed;
  const keeper = keeperOf({ store: { write: (rows) => used.write(rows) } });
  await keepAndRead(keeper, [draftOf('{"first":1}')]);
  expect(keeper.figures).toMatchObject({ kept: 0, failed: 1, isFailing: true });
  used = store;
  await keepAndRead(keeper, [draftOf('{"second":2}')]);
  expect(keeper.figures).toMatchObject({ kept: 1, failed: 1, isFailing: false });
  expect(lines).toMatchObject([{ code: "ERR_EVIDENCE_UNAVAILABLE" }, {}]);
});
