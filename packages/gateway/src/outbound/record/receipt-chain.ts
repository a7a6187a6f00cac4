import { canonicalJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiReceipt } from "@countersign/receipts";
import type { EntryDraft } from "@countersign/receipts/log";
import type { AgUiEvent } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";
import type { ClientDialect, Run, StreamReceipts } from "../../event/run.js";
import type { MintId } from "../../base/ports.js";
import { draftOf } from "./draft.js";
import type { Recorded } from "../../event/recorder.js";
import { streamReceiptId } from "./stream-receipt-id.js";

/** What a client that asked for receipts says about itself. */
export type ReceiptRequest = {
  /** What the client will read where its encoding cannot carry an event as it is. */
  readonly readBack?: ((event: AgUiEvent) => AgUiEvent) | undefined;
};

/** Whether events reach a client of this dialect in the form that is hashed: only then could it check a receipt. */
export function showsHashedForm(dialect: ClientDialect): boolean {
  return dialect === "1.0" || dialect === "as-sent";
}

/**
 * The receipts that go to the client of one run: of each event that it is shown, in that order, and of no other.
 *
 * A receipt names what the agent sent. Where the client gets something else (parts were withheld, its encoding
 * cannot carry it), that receipt would fail in its hands, and so what it gets is signed for by a further one.
 */
export class ReceiptChain implements StreamReceipts {
  readonly #mintId: MintId;
  readonly #readBack: ReceiptRequest["readBack"];
  /** Names the stream in the ids of its receipts. */
  #stream: string | undefined;
  #place = 0;
  /** Events with a further receipt, on their way to the log. */
  readonly #twice = new Set<EventContext>();
  /** Receipts that wait for their event to be delivered. */
  readonly #ready = new Map<EventContext, Recorded>();

  constructor(mintId: MintId, { readBack }: ReceiptRequest) {
    this.#mintId = mintId;
    this.#readBack = readBack;
  }

  /** What the log is told about events that belong together, in the order they will be shown. */
  draftsOf(run: Run, contexts: readonly EventContext[]): EntryDraft[] {
    const drafts: EntryDraft[] = [];
    for (const context of contexts) {
      const draft = draftOf(run, context);
      const text = this.#shownText(context);
      if (text === undefined) {
        drafts.push(draft);
        continue;
      }
      const shown = shownDraft(draft, this.#nextId(), text);
      if (text !== draft.payload_text) {
        this.#twice.add(context);
        drafts.push(draft);
      }
      drafts.push(shown);
    }
    return drafts;
  }

  /** Takes down the receipts of what will be shown; gives those that stand for the events themselves. */
  keep(contexts: readonly EventContext[], recorded: readonly Recorded[]): Recorded[] {
    let next = 0;
    return contexts.map((context) => {
      const own = recorded[next++] as Recorded;
      const shown = this.#twice.delete(context) ? recorded[next++] : own;
      if (isShown(context) && shown !== undefined) this.#ready.set(context, shown);
      return own;
    });
  }

  /** The receipt of a event that is delivered now. */
  take(context: EventContext): AgUiReceipt | undefined {
    const recorded = this.#ready.get(context);
    this.#ready.delete(context);
    return recorded?.entry?.receipt;
  }

  /** The canonical JSON of what the client will have of a event; undefined where that is not for it to check. */
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

/** Of an envelope the client is shown other events than the one that was signed for; what we supply nobody signs. */
function isShown({ event, decision, claim, part, supplied }: EventContext): boolean {
  return (
    decision?.allow === true && event !== undefined && claim === undefined && !part && !supplied
  );
}

/** The receipt that the client gets: of what it is shown, in its place. */
function shownDraft(draft: EntryDraft, eventId: string, text: string): EntryDraft {
  const { emitted_hash: _emitted, receipt, payload_text: _text, ...rest } = draft;
  const { payload_hash: _hash, ...body } = receipt;
  return { ...rest, receipt: { ...body, event_id: eventId }, payload_text: text };
}
