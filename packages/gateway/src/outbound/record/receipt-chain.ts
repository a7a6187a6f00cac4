import { canonicalJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiReceipt } from "@countersign/receipts";
import type { AgUiEvent } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import type { ClientDialect, Run, StreamReceipts } from "../../event/run.js";
import type { MintId } from "../../base/ports.js";
import { draftOf } from "./draft.js";
import type { DecisionDraft, Recorded } from "../../event/recorder.js";

/** The settings of a client that asked for receipts. */
export type ReceiptRequest = {
  /** The event that the client decodes if its encoding cannot represent the original. */
  readonly readBack?: ((event: AgUiEvent) => AgUiEvent) | undefined;
};

/** Whether a client of this dialect receives events in the hashed form: only then can it verify a receipt. */
export function showsHashedForm(dialect: ClientDialect): boolean {
  return dialect === "1.0" || dialect === "as-sent";
}

/**
 * The receipts that the client of one run receives: one for each delivered event, in order, and no others.
 *
 * A receipt covers the event that the agent sent. If the client receives another form (parts are withheld, or its encoding cannot represent
 * the event), it could not verify that receipt. The gateway then writes a further receipt for the delivered form.
 */
export class ReceiptChain implements StreamReceipts {
  readonly #mintId: MintId;
  readonly #readBack: ReceiptRequest["readBack"];
  /** The stream's part of its receipt ids. */
  #stream: string | undefined;
  #place = 0;
  /** Events with a further receipt, while the log writes them. */
  readonly #reissued = new Set<EventContext>();
  /** Receipts of events that are not delivered yet. */
  readonly #ready = new Map<EventContext, Recorded>();

  constructor(mintId: MintId, { readBack }: ReceiptRequest) {
    this.#mintId = mintId;
    this.#readBack = readBack;
  }

  /** The log entries of events that were flushed together, in the order of delivery. */
  draftsOf(run: Run, contexts: readonly EventContext[]): DecisionDraft[] {
    const drafts: DecisionDraft[] = [];
    for (const context of contexts) {
      const draft = draftOf(run, context);
      const text = this.#shownText(context);
      if (text === undefined) {
        drafts.push(draft);
        continue;
      }
      const shown = shownDraft(draft, this.#nextId(), text);
      if (text !== draft.payload_text) {
        this.#reissued.add(context);
        drafts.push(draft);
      }
      drafts.push(shown);
    }
    return drafts;
  }

  /** Stores the receipts of events that will be delivered. Returns the receipts that stand for the events themselves. */
  keep(contexts: readonly EventContext[], recorded: readonly Recorded[]): Recorded[] {
    let next = 0;
    return contexts.map((context) => {
      const own = recorded[next++] as Recorded;
      const shown = this.#reissued.delete(context) ? recorded[next++] : own;
      if (isShown(context) && shown !== undefined) this.#ready.set(context, shown);
      return own;
    });
  }

  /** Returns the receipt of an event that is being delivered. */
  take(context: EventContext): AgUiReceipt | undefined {
    const recorded = this.#ready.get(context);
    this.#ready.delete(context);
    return recorded?.entry?.receipt;
  }

  /** The canonical JSON of the event that the client will receive; `undefined` if the client does not verify it. */
  #shownText(context: EventContext): string | undefined {
    if (!isShown(context)) return undefined;
    const event = context.emitted ?? context.event;
    if (this.#readBack === undefined || event === undefined) return context.text;
    return canonicalJson(this.#readBack(event) as JsonValue);
  }

  #nextId(): string {
    this.#stream ??= this.#mintId("event");
    this.#place += 1;
    return streamReceiptId(this.#stream, this.#place);
  }
}

/** Whether the client receives the signed event itself: for an envelope it receives other events, and a synthetic event has no receipt. */
function isShown({ event, decision, claim, isListedPart, isSynthetic }: EventContext): boolean {
  return (
    decision?.allow === true &&
    event !== undefined &&
    claim === undefined &&
    !isListedPart &&
    !isSynthetic
  );
}

/** The entry for the delivered form of an event. */
function shownDraft(draft: DecisionDraft, eventId: string, text: string): DecisionDraft {
  const {
    emitted_hash: _emitted,
    emitted_text: _sent,
    receipt,
    payload_text: _text,
    ...rest
  } = draft;
  const { payload_hash: _hash, ...body } = receipt;
  return { ...rest, receipt: { ...body, event_id: eventId }, payload_text: text };
}

/** The CUSTOM event with the receipt of the event before it. */
export const RECEIPT_NAME = "countersign.receipt";

/** The CUSTOM event with the receipt of the event after it: nothing may follow the end of a run, so that receipt comes first. */
export const RECEIPT_AHEAD_NAME = "countersign.receipt_ahead";

/** Whether a client would take a CUSTOM event with this name for a receipt. */
export function isReceiptName(name: string): boolean {
  return name === RECEIPT_NAME || name === RECEIPT_AHEAD_NAME;
}

const SHOWN_ID = /^evt_[^.]*\.\d+$/u;

/**
 * The `event_id` in the receipt of a delivered event: a random id of its stream, and the event's place in it.
 *
 * A receipt names no run and has no number, but its `event_id` is signed. The first receipt of a stream is that of `RUN_STARTED`, which
 * names the run; later receipts have the same id and the next numbers. So a client detects an event that was left out, moved, repeated or
 * taken from another run.
 */
export function streamReceiptId(stream: string, place: number): string {
  return `${stream}.${place}`;
}

/** Whether an id has the form of a stream receipt id: an agent that could choose one would claim a place in a stream. */
export function isStreamReceiptId(id: string): boolean {
  return SHOWN_ID.test(id);
}
