import { canonicalJson, isCountersignError, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { OPERATOR_AGENT } from "@countersign/policy";
import type { CompiledPolicy } from "@countersign/policy";
import type { Clock, Journal } from "../base/ports.js";
import type { DecisionDraft, Recorded, Recorder } from "../event/recorder.js";
import type { EvidenceKey } from "../keys/evidence-keys.js";
import type { EvidenceRow, EvidenceStore } from "../store/evidence-store.js";
import { parseStored } from "../store/stored-text.js";
import { encodeCopy } from "./copy.js";
import type { EvidenceCopy } from "./copy.js";
import type { EvidenceSeal } from "./seal.js";

/** Which decisions are kept: those with a blocked part, or all. */
export type EvidenceEvents = "blocked" | "all";

/** Numbers of an evidence store since the start. */
export type EvidenceFigures = {
  /** Copies that are stored. */
  kept: number;
  /** Records without content: the policy keeps none, or the payload was too large. */
  omitted: number;
  /** Copies that found the queue full. */
  dropped: number;
  /** Copies that the store did not take. */
  failed: number;
  /** The last write failed. */
  isFailing: boolean;
};

/** Options of {@link createEvidenceKeeper}. */
export type EvidenceKeeperOptions = {
  readonly store: Pick<EvidenceStore, "write">;
  readonly seal: EvidenceSeal;
  readonly key: EvidenceKey;
  readonly events: EvidenceEvents;
  readonly maxPayloadBytes: number;
  /** The policy in force: a new redaction holds for open runs too. */
  policy(): Pick<CompiledPolicy, "evidence">;
  readonly clock: Clock;
  readonly journal: Journal;
  /** Called with the bytes of each stored batch. */
  onStored?(bytes: number): void;
  /** Text that may wait, in UTF-16 code units; 16 million by default. */
  readonly maxQueued?: number;
};

/** Keeps copies beside the pipeline, which never waits for it. */
export type EvidenceKeeper = {
  readonly figures: Readonly<EvidenceFigures>;
  /** Queues the copies of durable decisions, or drops and counts them. */
  keep(drafts: readonly DecisionDraft[], recorded: readonly Recorded[]): void;
  /** Resolves when everything queued until now is stored or lost. */
  flush(): Promise<void>;
};

/** Characters that may wait for the store. */
const MAX_QUEUED = 16_000_000;
/** Copies of one write, and their characters: encrypting them must not delay a stream. */
const BATCH = 256;
const BATCH_CHARACTERS = 1_000_000;

/** Cost of a queued copy beside its text. */
const ITEM_COST = 256;

type Waiting = {
  readonly seq: number;
  readonly payload: string;
  readonly emitted: string | undefined;
  readonly isNever: boolean;
};

/** Creates a keeper: a bounded queue, and one write under way. */
export function createEvidenceKeeper(options: EvidenceKeeperOptions): EvidenceKeeper {
  const { store, events, maxQueued = MAX_QUEUED, clock, journal } = options;
  const figures: EvidenceFigures = { kept: 0, omitted: 0, dropped: 0, failed: 0, isFailing: false };
  const queue: Waiting[] = [];
  let queued = 0;
  let isFull = false;
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.splice(0, batchLength(queue));
      queued -= batch.reduce((sum, waiting) => sum + costOf(waiting), 0);
      try {
        const rows = batch.map((waiting) => rowOf(options, waiting, clock.now()));
        await store.write(rows.map(({ row }) => row));
        const omitted = rows.filter(({ isOmitted }) => isOmitted).length;
        figures.kept += rows.length - omitted;
        figures.omitted += omitted;
        if (figures.isFailing) journal.info({}, "the evidence store works again");
        figures.isFailing = false;
        options.onStored?.(rows.reduce((sum, { row }) => sum + row.bytes.length, 0));
      } catch (error) {
        figures.failed += batch.length;
        if (!figures.isFailing) {
          journal.error(
            { code: isCountersignError(error) ? error.code : "INTERNAL" },
            "copies of payloads could not be kept; events and receipts are not affected",
          );
        }
        figures.isFailing = true;
      }
      // Streams come first.
      await new Promise((resolve) => setImmediate(resolve));
    }
    isFull = false;
  };
  const start = (): void => {
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
  };

  return {
    figures,
    keep: (drafts, recorded) => {
      const { evidence } = options.policy();
      drafts.forEach((draft, index) => {
        const seq = recorded[index]?.seq;
        if (seq === undefined || draft.payload_text === undefined) return;
        if (!isWanted(draft, events)) return;
        const { payload_text: payload, emitted_text: emitted, facts } = draft;
        const isNever = facts !== undefined && evidence.isNever(facts);
        const waiting: Waiting = { seq, payload, emitted, isNever };
        if (queued + costOf(waiting) > maxQueued) {
          figures.dropped += 1;
          if (!isFull) {
            journal.warn(
              { code: "EVIDENCE_DROPPED" },
              "the evidence store does not keep up: copies of payloads are dropped; events and receipts are not affected",
            );
          }
          isFull = true;
          return;
        }
        queued += costOf(waiting);
        queue.push(waiting);
      });
      if (queue.length > 0) start();
    },
    flush: async () => {
      while (writing !== undefined) await writing;
    },
  };
}

/** Records decisions, and keeps copies of them once they are durable. */
export function keepRecorded(recorder: Recorder, keeper: Pick<EvidenceKeeper, "keep">): Recorder {
  return {
    ...recorder,
    appendAll: async (drafts) => {
      const recorded = await recorder.appendAll(drafts);
      keeper.keep(drafts, recorded);
      return recorded;
    },
  };
}

function isWanted(
  { receipt, emitted_hash: emitted }: DecisionDraft,
  events: EvidenceEvents,
): boolean {
  // The log itself has the acts of operators.
  if (receipt.agent_id === OPERATOR_AGENT) return false;
  return events === "all" || !receipt.allowed || emitted !== undefined;
}

function batchLength(queue: readonly Waiting[]): number {
  let characters = 0;
  const end = queue.findIndex((waiting, index) => {
    characters += costOf(waiting);
    return index > 0 && (index >= BATCH || characters > BATCH_CHARACTERS);
  });
  return end === -1 ? queue.length : end;
}

function costOf({ payload, emitted }: Waiting): number {
  return payload.length + (emitted?.length ?? 0) + ITEM_COST;
}

function rowOf(
  { seal, key, policy, maxPayloadBytes }: EvidenceKeeperOptions,
  { seq, payload, emitted, isNever }: Waiting,
  now: number,
): { readonly row: EvidenceRow; readonly isOmitted: boolean } {
  const isLarge = Buffer.byteLength(payload) + Buffer.byteLength(emitted ?? "") > maxPayloadBytes;
  const copy: EvidenceCopy = isNever
    ? { omitted: "policy" }
    : isLarge
      ? { omitted: "size" }
      : redactedCopy(policy().evidence.redact, payload, emitted);
  const place = { seq, payloadHash: sha256Hex(payload) };
  const bytes = seal.seal(key, place, encodeCopy(copy));
  return {
    row: { seq, keptAt: now, keyId: key.id, bytes },
    isOmitted: copy.omitted !== undefined,
  };
}

function redactedCopy(
  redact: CompiledPolicy["evidence"]["redact"],
  payload: string,
  emitted: string | undefined,
): EvidenceCopy {
  const plain = { payload, ...(emitted === undefined ? {} : { emitted }) };
  if (redact === undefined) return plain;
  const own = redact(parseStored(payload));
  const sent = emitted === undefined ? undefined : redact(parseStored(emitted));
  if (own.places.length === 0 && (sent?.places.length ?? 0) === 0) return plain;
  const text = (value: JsonValue): string => canonicalJson(value);
  return {
    payload: text(own.value),
    ...(sent === undefined ? {} : { emitted: text(sent.value) }),
    redacted: [...new Set([...own.places, ...(sent?.places ?? [])])],
  };
}
