import type { JsonObject, NamedEventType } from "@countersign/core";
import type { AgUiReceipt } from "@countersign/receipts";
import type { AgUiEvent } from "@countersign/wire";
import {
  createDowngrader,
  upgradeEnvelope,
  VENDOR_KEY,
  wrapEnvelope,
} from "@countersign/wire/dialects";
import type { RunPhase } from "@countersign/wire/order";
import { readsEnvelopes } from "../order/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import { RECEIPT_AHEAD_NAME, RECEIPT_NAME } from "../record/receipt-names.js";
import type { Failure } from "./run-error.js";

type Translation = (event: AgUiEvent, context?: EventContext) => readonly JsonObject[];

/** The person's end of one run, in the dialect they asked for: it keeps the stream valid AG-UI whatever was withheld. */
export class ClientStream {
  readonly #run: Run;
  /** Made by the first event that needs one. */
  #translate: Translation | undefined;
  #phase: RunPhase = "idle";
  #outgoing: AgUiEvent[] = [];
  #texts: (string | undefined)[] = [];

  constructor(run: Run) {
    this.#run = run;
  }

  /** Whether the client is inside a run, where a notice is legal. */
  get isRunOpen(): boolean {
    return this.#phase === "active";
  }

  /** Whether the client has been told how the run ended. */
  get isRunOver(): boolean {
    return this.#phase === "finished" || this.#phase === "errored";
  }

  /** Delivers an event that the guard has let on; `event` is what it was judged to be. */
  write(event: AgUiEvent, context?: EventContext): void {
    const run = this.#run;
    const before = this.#phase;
    this.#phase = phaseAfter(event, before);
    if (run.delivered !== undefined && context !== undefined) {
      for (const shown of shownForms(run, event, context)) run.delivered(shown, context);
    }
    if (run.clientDialect === "1.0" && context?.claim === undefined) {
      this.#addShown(event, context, before);
      return;
    }
    this.#translate ??= createTranslation(run);
    for (const value of this.#translate(event, context)) {
      // The text that was hashed is sent, unless the dialect made something else of the event.
      const isHashed = (value as unknown) === event;
      if (isHashed) this.#addShown(event, context, before);
      else this.#add(value as unknown as AgUiEvent, undefined);
    }
  }

  /** Adds an event in the form that was hashed, and its receipt beside it where the client asked for it. */
  #addShown(event: AgUiEvent, context: EventContext | undefined, before: RunPhase): void {
    const { receipts } = this.#run;
    if (receipts === undefined || context === undefined) {
      this.#add(event, sentText(event, context));
      return;
    }
    const receipt = receipts.take(context);
    const isEnd = event.type === "RUN_FINISHED" || event.type === "RUN_ERROR";
    // Outside of a run nothing but its start is legal, so an error that comes without one goes alone.
    if (receipt !== undefined && isEnd && before === "active") {
      this.#add(receiptEvent(RECEIPT_AHEAD_NAME, receipt), undefined);
    }
    this.#add(event, sentText(event, context));
    if (receipt !== undefined && !isEnd) this.#add(receiptEvent(RECEIPT_NAME, receipt), undefined);
  }

  #add(event: AgUiEvent, text: string | undefined): void {
    if (this.#outgoing.length === 0) {
      this.#outgoing = [event];
      this.#texts = [text];
      return;
    }
    this.#outgoing.push(event);
    this.#texts.push(text);
  }

  /** Ends the run with RUN_ERROR, unless the client has already been told of an end that forbids it. */
  fail({ code, message, receipt, remedy }: Failure): void {
    // A second RUN_ERROR would make the official client throw.
    if (this.#phase === "errored") return;
    try {
      this.flush();
    } catch {
      // What cannot be written must not take the word of the failure with it.
    }
    // Where a refused request names its receipt, on a socket.
    const helps = remedy === undefined ? {} : { remedy };
    const told =
      receipt === undefined
        ? {}
        : { metadata: { [VENDOR_KEY]: { problem: { code, receipt, ...helps } } } };
    this.write({ type: "RUN_ERROR", message, code, ...told });
  }

  /** Sends what was written since the last time in one piece: what became durable together leaves together. */
  flush(): void {
    if (this.#outgoing.length === 0) return;
    const outgoing = this.#outgoing;
    const texts = this.#texts;
    // Let go of first: what cannot be written must not stand in the way of the run's end.
    this.#outgoing = [];
    this.#texts = [];
    this.#run.sink.send(outgoing, texts);
  }

  end(): void {
    this.flush();
    this.#run.sink.end();
  }
}

function receiptEvent(name: string, receipt: AgUiReceipt): AgUiEvent {
  return { type: "CUSTOM", name, value: receipt };
}

function phaseAfter({ type }: AgUiEvent, before: RunPhase): RunPhase {
  if (type === "RUN_STARTED") return "active";
  if (type === "RUN_FINISHED") return "finished";
  return type === "RUN_ERROR" ? "errored" : before;
}

/** The events a client is shown of a event, before its dialect; of an envelope, what a native client gets. */
export function shownForms(
  run: Run,
  event: AgUiEvent,
  context: EventContext,
): readonly AgUiEvent[] {
  return context.claim === undefined || readsEnvelopes(run)
    ? [event]
    : (nativeOf(event, context) as unknown as AgUiEvent[]);
}

function createTranslation(run: Run): Translation {
  const { clientDialect } = run;
  if (clientDialect === "1.0") return nativeOf;
  if (clientDialect === "envelope") return (event, context) => envelopeOf(run, event, context);
  if (clientDialect === "as-sent") {
    return run.agentDialect === "chio"
      ? (event, context) => envelopeOf(run, event, context)
      : nativeOf;
  }
  const downgrader = createDowngrader(clientDialect);
  return (event, context) =>
    nativeOf(event, context).flatMap((value) => {
      const { events, notes } = downgrader.push(value as unknown as AgUiEvent);
      if (notes.length > 0) run.observer.notes(notes);
      return events;
    });
}

function nativeOf(event: AgUiEvent, context: EventContext | undefined): JsonObject[] {
  const claim = context?.claim;
  return claim === undefined ? [event as unknown as JsonObject] : upgradeEnvelope(claim.envelope);
}

/** An agent that speaks envelopes is answered to its clients in envelopes; the run around them is ours. */
function envelopeOf(run: Run, event: AgUiEvent, context: EventContext | undefined): JsonObject[] {
  if (context?.supplied === true) return [];
  const claimed = context?.claim?.envelope;
  if (claimed !== undefined) return [claimed as JsonObject];
  const { facts } = context ?? {};
  const wrapped = wrapEnvelope(event, {
    eventId: run.mintId("event"),
    agentId: run.agent,
    sessionId: run.sessionId,
    timestamp: Math.floor(run.clock.now() / 1000),
    eventType: eventTypeOf(event, context),
    classification: facts?.classification ?? "display",
    ...(facts?.target === undefined ? {} : { target: facts.target }),
  });
  return wrapped === undefined ? [] : [wrapped as unknown as JsonObject];
}

/** What the gateway says by itself is an error or a notice. */
function eventTypeOf(event: AgUiEvent, context: EventContext | undefined): NamedEventType {
  const { facts } = context ?? {};
  if (facts === undefined) return event.type === "CUSTOM" ? { custom: event.name } : "error";
  return facts.eventType === "custom"
    ? { custom: facts.customName ?? "custom" }
    : (facts.eventType as NamedEventType);
}

/**
 * The text to send in place of writing the event again: the canonical text that was hashed, which is at hand. It sorts
 * members, so an event with values of the application is written again, with their members in the agent's order.
 */
function sentText(event: AgUiEvent, context: EventContext | undefined): string | undefined {
  for (const member of Object.values(event)) if (typeof member === "object") return undefined;
  return context?.text;
}
