import type { ControlApp } from "./control-env.js";
import { decodeEntry, parseTilePath } from "@countersign/receipts";
import { proveEntry } from "@countersign/receipts/log";
import { explainEntry } from "../explain/explain-entry.js";
import type { Identities } from "../event/client-identity.js";
import type { OpenPolicy, OpenReceipts } from "./ports.js";
import { numberOf, columnsOf, filterOf, pageOf, sequenceOf } from "./query.js";
import { problem } from "./problem.js";

/** Entries per export request. */
const MAX_EXPORT = 4096;

/** The widest time bucket of counts: a year. */
const MAX_BUCKET = 366 * 86_400_000;

/** The log: queries, proofs, and everything an auditor needs to keep a copy. */
export function addReceiptRoutes(
  app: ControlApp,
  { log, store, attesting }: OpenReceipts,
  identities: Identities,
  policy: OpenPolicy,
): void {
  app.get("/v1/receipts", async (context) => {
    const query = context.req.query();
    return context.json(await store.query(filterOf(query, identities), pageOf(query)));
  });
  app.get("/v1/receipts/counts", async (context) => {
    const { by, bucket, ...query } = context.req.query();
    const columns = columnsOf(by);
    const rows = await store.count({
      filter: filterOf(query, identities, false),
      by: columns,
      ...(bucket === undefined ? {} : { bucket: numberOf("bucket", bucket, 0, 1000, MAX_BUCKET) }),
    });
    return context.json({
      counts: rows.map(({ count, from, group }) => ({
        count,
        ...(from === undefined ? {} : { from }),
        values: Object.fromEntries(columns.map((column, at) => [column, group[at] ?? null])),
      })),
    });
  });
  app.get("/v1/receipts/export", async (context) => {
    const { start, limit } = context.req.query();
    const { size } = await store.head();
    const from = numberOf("start", start, 0, 0, size);
    const end = Math.min(size, from + numberOf("limit", limit, 1024, 1, MAX_EXPORT));
    const entries = from === end ? [] : await store.readEntries(from, end);
    const lines = entries.flatMap((entry) => [Buffer.from(entry), LINE_END]);
    return context.body(Buffer.concat(lines), 200, {
      "content-type": "application/jsonl",
      "countersign-next": String(end),
      "countersign-size": String(size),
    });
  });
  app.get("/v1/receipts/:seq/proof", async (context) => {
    const seq = sequenceOf(context.req.param("seq"));
    if (seq >= (await store.head()).size) {
      return problem(context, 404, "RECEIPT_UNKNOWN", "The log has no such entry");
    }
    // A cosigned checkpoint proves more than a newer one without cosignatures.
    const witnessed = attesting.witnessing?.witnessed;
    const isWitnessed = witnessed?.isEnough === true && witnessed.size > seq;
    return context.text(
      isWitnessed ? await proveEntry(store, seq, witnessed.text) : await log.proof(seq),
    );
  });
  app.get("/v1/receipts/:seq/explanation", async (context) => {
    const seq = sequenceOf(context.req.param("seq"));
    const [bytes] = seq < (await store.head()).size ? await store.readEntries(seq, seq + 1) : [];
    if (bytes === undefined) {
      return problem(context, 404, "RECEIPT_UNKNOWN", "The log has no such entry");
    }
    return context.json(explainEntry(decodeEntry(bytes), policy.holder.current.document));
  });
  app.get("/v1/checkpoint", async (context) => context.text(await log.checkpoint()));
  app.get("/v1/checkpoint/witnessed", (context) => {
    const text = attesting.witnessing?.witnessed?.text;
    if (text !== undefined) return context.text(text);
    return problem(context, 404, "CHECKPOINT_UNWITNESSED", "No witness cosigned a checkpoint yet");
  });
  app.get("/v1/tile/*", async (context) => {
    const tile = parseTilePath(context.req.path.slice("/v1/".length));
    return context.body(Buffer.from(await store.readTile(tile)), 200, {
      "content-type": "application/octet-stream",
    });
  });
}

const LINE_END = Buffer.from("\n");
