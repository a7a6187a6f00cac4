import type { JsonObject } from "@countersign/core";
import { decodeEntry } from "@countersign/receipts";
import type { LogEntry } from "@countersign/receipts";
import type { EntryPage, ReceiptStore } from "@countersign/receipts/log";
import type { EvidenceRead } from "../evidence/read-evidence.js";
import { parseStored } from "../store/stored-text.js";
import type { ControlApp, ControlContext } from "./control-env.js";
import type { OperatorActs } from "./operator-acts.js";
import type { OpenEvidence } from "./ports.js";
import { invalidField, problem } from "./problem.js";
import { numberOf } from "./query.js";

/** The parts that read kept payloads. */
export type EvidenceParts = {
  readonly evidence: OpenEvidence | undefined;
  readonly store: ReceiptStore;
  actsOf(context: ControlContext): OperatorActs;
};

const DEFAULT_ENTRIES = 200;
const MAX_ENTRIES = 500;
/** Characters of the payloads of one page; one payload may be larger. */
const MAX_PAGE_CHARACTERS = 4_000_000;

/** Reads kept payloads. Each read is a receipt, and nothing is read without one. */
export function addEvidenceRoutes(
  app: ControlApp,
  { evidence, store, actsOf }: EvidenceParts,
): void {
  app.get("/v1/runs/:session/:run/evidence", async (context) => {
    const { session, run } = context.req.param();
    const { limit, cursor, ...others } = context.req.query();
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw invalidField(unknown, "limit or cursor");
    if (evidence === undefined) return isOff(context);
    const filter = { session_id: session, run_id: run };
    const readPage = (size: number): Promise<EntryPage> =>
      store.query(filter, {
        order: "oldest",
        limit: size,
        ...(cursor === undefined ? {} : { cursor }),
      });
    const page = await readPage(numberOf("limit", limit, DEFAULT_ENTRIES, 1, MAX_ENTRIES));
    if (page.entries.length === 0) return context.json({ items: [] });
    await actsOf(context).record({ act: "evidence-read", session, run });
    const reads = await evidence.read(page.entries);
    const end = endOfPage(reads);
    const items = reads.slice(0, end).map(itemOf);
    if (end === reads.length) return context.json({ items, ...nextOf(page) });
    // The page ends before the first payload that did not fit.
    const next = (reads[end] as EvidenceRead).seq;
    const shorter = await readPage(page.entries.findIndex(({ seq }) => seq === next));
    return context.json({ items, ...nextOf(shorter) });
  });
  app.get("/v1/receipts/:which/evidence", async (context) => {
    if (evidence === undefined) return isOff(context);
    const entry = await findEntry(store, context.req.param("which"));
    if (entry === undefined) {
      return problem(context, 404, "RECEIPT_UNKNOWN", "The log has no such entry");
    }
    const session = entry.receipt.session_id;
    await actsOf(context).record({
      act: "evidence-read",
      entry: entry.seq,
      ...(session === undefined ? {} : { session }),
    });
    const [read] = await evidence.read([entry]);
    if (read === undefined) {
      return problem(
        context,
        404,
        "EVIDENCE_NOT_KEPT",
        `No payload of entry ${entry.seq} is kept: it was not one that evidence.events keeps, its time is over, or it made room for newer ones`,
      );
    }
    if ("problem" in read) throw read.problem;
    return context.json(itemOf(read));
  });
}

function isOff(context: ControlContext): Response {
  return problem(
    context,
    404,
    "EVIDENCE_OFF",
    "This gateway keeps no payloads. Fix: set evidence.keep in countersign.yaml",
  );
}

function nextOf({ cursor }: EntryPage): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}

/** The number of payloads that fit on a page, at least one. */
function endOfPage(reads: readonly EvidenceRead[]): number {
  let characters = 0;
  const end = reads.findIndex((read, index) => {
    if ("copy" in read) {
      characters += (read.copy.payload?.length ?? 0) + (read.copy.emitted?.length ?? 0);
    }
    return index > 0 && characters > MAX_PAGE_CHARACTERS;
  });
  return end === -1 ? reads.length : end;
}

function itemOf(read: EvidenceRead): JsonObject {
  if ("problem" in read) {
    const { code, message } = read.problem;
    return { seq: read.seq, problem: { code, title: message } };
  }
  const { seq, keptAt, copy } = read;
  return {
    seq,
    kept_at: keptAt,
    ...(copy.payload === undefined ? {} : { payload: parseStored(copy.payload) }),
    ...(copy.emitted === undefined ? {} : { emitted: parseStored(copy.emitted) }),
    ...(copy.redacted === undefined ? {} : { redacted: [...copy.redacted] }),
    ...(copy.omitted === undefined ? {} : { omitted: copy.omitted }),
  };
}

/** An entry by its number, or the newest one with this receipt id. */
async function findEntry(store: ReceiptStore, which: string): Promise<LogEntry | undefined> {
  if (!/^\d{1,15}$/u.test(which))
    return (await store.query({ id: which }, { limit: 1 })).entries[0];
  const seq = Number(which);
  if (seq >= (await store.head()).size) return undefined;
  const [bytes] = await store.readEntries(seq, seq + 1);
  return bytes === undefined ? undefined : decodeEntry(bytes);
}
