import { equalBytes, sha256Hex } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { verifyEd25519 } from "@countersign/core/verify";
import { describe, expect, test } from "vitest";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import type { LogEntry } from "../entry/entry.js";
import { importReceipt } from "../import/import-foreign.js";
import { openLog } from "../log/open-log.js";
import type { LogOptions, ReceiptLog } from "../log/open-log.js";
import { proveGrowth } from "../log/prove-entry.js";
import { storedRoot } from "../log/checkpoints.js";
import { leafHash } from "../merkle/hash.js";
import { verifyConsistency, verifyInclusion } from "../merkle/verify-proof.js";
import { createNoteKey } from "../note/vkey.js";
import { parseProof } from "../proof/tlog-proof.js";
import type { EntryColumn } from "../query/query.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import type { ReceiptStore } from "../store/store.js";
import { decodeBundle } from "../tiles/bundle.js";
import { checkWholeLog } from "./check-log.js";
import { draftOf } from "./drafts.js";
import { foreignSample } from "./foreign-sample.js";

const ORIGIN = "contract.example/log";
const key = generateKey();
const noteKey = generateKey();

async function logOver(store: ReceiptStore, more: Partial<LogOptions> = {}): Promise<ReceiptLog> {
  return openLog({
    store,
    signer: await createInThreadSigner(key),
    checkpointSigner: createSigner(noteKey),
    origin: ORIGIN,
    checkpointInterval: 0,
    groupSize: 50,
    flushSize: 130,
    ...more,
  });
}

function fill(log: ReceiptLog, count: number, from = 0): Promise<unknown> {
  return Promise.all(
    Array.from({ length: count }, (_, number) => log.append(draftOf(from + number))),
  );
}

function valueOf(entry: LogEntry, column: EntryColumn): string | boolean | null {
  const { receipt } = entry;
  const type = receipt.event_type;
  const values: Record<EntryColumn, string | boolean | undefined> = {
    session_id: receipt.session_id,
    agent_id: receipt.agent_id,
    run_id: entry.run_id,
    thread_id: entry.thread_id,
    event_type: typeof type === "string" ? type : `custom:${type.custom}`,
    classification: receipt.classification,
    target_type: receipt.target?.component_type,
    target_id: receipt.target?.component_id,
    allowed: receipt.allowed,
    rule: entry.rule,
    capability_id: receipt.capability_id,
    direction: entry.direction,
    mode: entry.mode,
    transport: receipt.transport,
  };
  return values[column] ?? null;
}

/** What every store must do, run against each of them with the same data. */
export function describeStoreContract(
  name: string,
  open: (log: string) => Promise<ReceiptStore>,
): void {
  describe(`${name}`, () => {
    test("appended entries keep their order, read back whole and survive reopening", async () => {
      const log = await logOver(await open("order"));
      const appended = (await fill(log, 600)) as { seq: number; id: string; entry: LogEntry }[];
      expect(appended.map((one) => one.seq)).toEqual(appended.map((_, seq) => seq));
      expect(appended[599]?.id).toBe(`agui-${draftOf(599).receipt.event_id}`);
      expect(appended[599]?.entry).toMatchObject(draftOf(599));
      await log.close();
      const store = await open("order");
      const entries = await checkWholeLog(store);
      expect(entries).toEqual(appended.map((one) => one.entry));
      const bundle = await store.readTile({ level: "entries", index: 2, width: 88 });
      expect(decodeBundle(bundle, 88).length).toBe(88);
      await expect(store.readEntries(590, 601)).rejects.toMatchObject({ code: "ERR_STORE_RANGE" });
      await expect(store.readTile({ level: 0, index: 2, width: 89 })).rejects.toMatchObject({
        code: "ERR_STORE_RANGE",
      });
      await store.close();
      await expect(
        store.append(() => {
          throw new Error("never");
        }, "strict"),
      ).rejects.toMatchObject({
        code: "ERR_STORE_CLOSED",
      });
    });

    test("a proof verifies against the checkpoint it carries, and growth is consistent", async () => {
      const store = await open("proof");
      const log = await logOver(store);
      const first = (await fill(log, 300)) as { bytes: Uint8Array }[];
      const oldRoot = await storedRoot(store, 300);
      await fill(log, 400, 300);
      const proof = parseProof(await log.proof(123));
      const keys = [createNoteKey(ORIGIN, noteKey.publicKey)];
      const checkpoint = await openCheckpoint(proof.checkpoint, keys, verifyEd25519);
      expect(checkpoint.size).toBe(700);
      const leaf = leafHash(first[123]?.bytes ?? new Uint8Array());
      expect(verifyInclusion(leaf, 123, 700, proof.hashes, checkpoint.root)).toBe(true);
      const growth = await proveGrowth(store, 300, 700);
      const [older, newer] = [{ size: 300, root: oldRoot }, checkpoint];
      expect(verifyConsistency(older, newer, growth)).toBe(true);
      expect(await store.readCheckpoint()).toBe(proof.checkpoint);
      await expect(log.proof(700)).rejects.toMatchObject({ code: "ERR_STORE_RANGE" });
      await log.close();
    });

    test("an older checkpoint never replaces a newer one in what readers are given", async () => {
      const store = await open("checkpoints");
      const log = await logOver(store);
      await fill(log, 3);
      const text = await log.checkpoint();
      expect(
        equalBytes(
          (await openCheckpoint(text, [createNoteKey(ORIGIN, noteKey.publicKey)], verifyEd25519))
            .root,
          await storedRoot(store, 3),
        ),
      ).toBe(true);
      await store.writeCheckpoint("older\n", 2);
      expect(await store.readCheckpoint()).toBe(text);
      await log.close();
    });

    test("checkpoints that are made at the same time are all kept, and the newest is what stays", async () => {
      const store = await open("together");
      const log = await logOver(store);
      for (let round = 0; round < 5; round += 1) {
        const made = [log.checkpoint(), fill(log, 10, round * 10), log.checkpoint()];
        await Promise.all([...made, log.checkpoint(), log.checkpoint()]);
        const newest = await log.checkpoint();
        expect(await store.readCheckpoint()).toBe(newest);
        expect(newest.split("\n")[1]).toBe(String(round * 10 + 10));
      }
      await log.close();
    });

    test("every filter finds exactly what a walk over all entries finds, page by page", async () => {
      const store = await open("query");
      const log = await logOver(store);
      const all = ((await fill(log, 500)) as { entry: LogEntry }[]).map((one) => one.entry);
      const filters = [
        {},
        { session_id: "sess_2" },
        { agent_id: ["agent-1", "agent-3"] },
        { run_id: "run_7" },
        { event_type: "custom:clipboard" },
        { classification: "submit", target_type: "modal" },
        { target_id: "c4", allowed: false },
        { allowed: true, rule: "rules.ag_ui[2]" },
        { capability_id: "cap-1", transport: "sse", direction: "inbound", mode: "enforce" },
        { thread_id: "thread_1", since: 1_744_993_929_000, until: 1_744_993_931_000 },
        { id: `agui-${draftOf(77).receipt.event_id}` },
        { session_id: "never-seen" },
      ];
      for (const filter of filters) {
        const wanted = all.filter((entry) =>
          Object.entries(filter).every(([member, value]) => {
            if (member === "since") return entry.received_at >= Number(value);
            if (member === "until") return entry.received_at < Number(value);
            if (member === "id") return entry.receipt.id === value;
            const own = valueOf(entry, member as EntryColumn);
            return Array.isArray(value) ? value.includes(own as never) : own === value;
          }),
        );
        for (const order of ["oldest", "newest"] as const) {
          const found: LogEntry[] = [];
          let cursor: string | undefined;
          do {
            const page = await store.query(filter, {
              order,
              limit: 33,
              ...(cursor === undefined ? {} : { cursor }),
            });
            expect(page.entries.length).toBeLessThanOrEqual(33);
            found.push(...page.entries);
            cursor = page.cursor;
          } while (cursor !== undefined);
          expect(found).toEqual(order === "oldest" ? wanted : wanted.toReversed());
        }
        const [total] = await store.count({ filter });
        expect(total?.count ?? 0).toBe(wanted.length);
      }
      await log.close();
    });

    test("counts by any columns and time buckets equal counting by hand", async () => {
      const store = await open("count");
      const log = await logOver(store);
      const all = ((await fill(log, 500)) as { entry: LogEntry }[]).map((one) => one.entry);
      const groupings: EntryColumn[][] = [
        ["classification"],
        ["allowed", "rule"],
        ["target_type", "target_id"],
        ["session_id", "agent_id", "capability_id"],
        [],
      ];
      for (const by of groupings) {
        const bucket = 1_000;
        const byHand = new Map<string, number>();
        for (const entry of all.filter((one) => one.receipt.classification !== "alert")) {
          const from = entry.received_at - (entry.received_at % bucket);
          const group = JSON.stringify([from, by.map((column) => valueOf(entry, column))]);
          byHand.set(group, (byHand.get(group) ?? 0) + 1);
        }
        const filter = { classification: ["display", "mutate", "submit"] };
        const rows = await store.count({ filter, by, bucket });
        const got = new Map(rows.map((row) => [JSON.stringify([row.from, row.group]), row.count]));
        expect(got).toEqual(byHand);
        expect(rows.map((row) => row.from)).toEqual(rows.map((row) => row.from).toSorted());
      }
      // How many submit events hit a modal in the last hour?
      const asked = { classification: "submit", target_type: "modal", since: 1_744_993_928_000 };
      const submits = all.filter(
        ({ receipt }) =>
          receipt.classification === "submit" && receipt.target?.component_type === "modal",
      );
      expect(await store.count({ filter: asked })).toEqual([{ count: submits.length, group: [] }]);
      await log.close();
    });

    test("questions that make no sense get a coded error and change nothing", async () => {
      const store = await open("invalid");
      const bad: (() => Promise<unknown>)[] = [
        () => store.query({ nonsense: "x" } as never),
        () => store.query({ session_id: 5 } as never),
        () => store.query({ allowed: "yes" } as never),
        () => store.query({ since: -1 }),
        () => store.query({}, { limit: 1_001 }),
        () => store.query({}, { limit: 0 }),
        () => store.query({}, { cursor: "o5" }),
        () => store.query({}, { cursor: "n5; DROP TABLE entries" }),
        () => store.query({ session_id: Array.from({ length: 101 }, String) }),
        () => store.count({ by: ["body" as never] }),
        () => store.count({ by: ["rule", "rule"] }),
        () => store.count({ bucket: 0 }),
        () => store.queryForeign({}),
        () => store.queryForeign({ session_id: "s", limit: 1_001 }),
      ];
      for (const ask of bad) {
        await expect(Promise.resolve().then(ask)).rejects.toMatchObject({
          code: "ERR_QUERY_INVALID",
        });
      }
      expect((await store.query({ session_id: "'; DROP TABLE entries; --" })).entries).toEqual([]);
      await store.close();
    });

    test("foreign receipts are kept once and found by session and agent", async () => {
      const store = await open("foreign");
      const samples = [
        foreignSample({ id: "mcp-2", session_id: "sess_1", agent_id: "agent-1", timestamp: 20 }),
        foreignSample({ id: "mcp-1", session_id: "sess_1", agent_id: "agent-2", timestamp: 10 }),
        foreignSample({ id: "mcp-3", session_id: "sess_2" }),
      ];
      const receipts = await Promise.all(samples.map((sample) => importReceipt(sample, "mcp")));
      expect(receipts[0]?.hash).toBe(
        sha256Hex(JSON.stringify(samples[0], Object.keys(samples[0] ?? {}).toSorted())),
      );
      expect(await store.importForeign(receipts)).toBe(3);
      expect(await store.importForeign(receipts.slice(1))).toBe(0);
      const session = await store.queryForeign({ session_id: "sess_1" });
      expect(session.map((one) => one.id)).toEqual(["mcp-1", "mcp-2"]);
      expect(session[1]).toEqual(receipts[0]);
      expect(await store.queryForeign({ agent_id: "agent-2", protocol: "mcp" })).toHaveLength(1);
      expect(await store.queryForeign({ agent_id: "agent-2", protocol: "a2a" })).toEqual([]);
      await store.close();
    });

    test("a batch of a relaxed log verifies like any other", async () => {
      const log = await logOver(await open("relaxed"), { durability: "relaxed", sign: "batch" });
      await fill(log, 200);
      await log.close();
      const store = await open("relaxed");
      const entries = await checkWholeLog(store);
      expect(
        entries.filter((one) => one.receipt.signature.startsWith("ed25519-batch:")).length,
      ).toBe(entries.filter((one) => one.receipt.allowed).length);
      await store.close();
    });
  });
}
