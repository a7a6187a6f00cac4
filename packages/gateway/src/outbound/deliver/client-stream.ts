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
import { RECEIPT_AHEAD_NAME, RECEIPT_NAME } from "../record/receipt-chain.js";
import type { Failure } from "./run-error.js";

type Translation = (event: AgUiEvent, context?: EventContext) => readonly JsonObject[];

/** The client's stream of one run, in the client's dialect. It stays valid AG-UI whatever the gateway withholds. */
export class ClientStream {
  readonly #run: Run;
  /** Created by the first event that needs it. */
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

  /** Whether the client has received the end of the run. */
  get isRunOver(): boolean {
    return this.#phase === "finished" || this.#phase === "errored";
  }

  /** Delivers an event that passed the guard. `event` is the judged form. */
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
      // The client receives the hashed text, unless its dialect changes the event.
      const isHashed = (value as unknown) === event;
      if (isHashed) this.#addShown(event, context, before);
      else this.#add(value as unknown as AgUiEvent, undefined);
    }
  }

  /** Adds an event in its hashed form, with its receipt if the client asked for receipts. */
  #addShown(event: AgUiEvent, context: EventContext | undefined, before: RunPhase): void {
    const { receipts } = this.#run;
    if (receipts === undefined || context === undefined) {
      this.#add(event, sentText(event, context));
      return;
    }
    const receipt = receipts.take(context);
    const isEnd = event.type === "RUN_FINISHED" || event.type === "RUN_ERROR";
    // Outside a run only its start is legal, so an error without a run is sent without a receipt.
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

  /** Ends the run with RUN_ERROR, unless the client has received an end that forbids it. */
  fail({ code, message, receipt, remedy }: Failure): void {
    // A second RUN_ERROR would make the official client throw.
    if (this.#phase === "errored") return;
    try {
      this.flush();
    } catch {
      // The failure is reported even if an earlier event cannot be written.
    }
    // On a socket, the error names the receipt of a refused request.
    const fix = remedy === undefined ? {} : { remedy };
    const told =
      receipt === undefined
        ? {}
        : { metadata: { [VENDOR_KEY]: { problem: { code, receipt, ...fix } } } };
    this.write({ type: "RUN_ERROR", message, code, ...told });
  }

  /** Sends everything written since the last flush in one write. */
  flush(): void {
    if (this.#outgoing.length === 0) return;
    const outgoing = this.#outgoing;
    const texts = this.#texts;
    // Cleared first, so that an event that cannot be written does not block the end of the run.
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

/** The events that a client receives for one event, before its dialect; for an envelope, those of a native client. */
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

/** Clients of an envelope agent receive envelopes; the gateway supplies the events of the run. */
function envelopeOf(run: Run, event: AgUiEvent, context: EventContext | undefined): JsonObject[] {
  if (context?.isSynthetic === true) return [];
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

/** An event of the gateway's own is an error or a notice. */
function eventTypeOf(event: AgUiEvent, context: EventContext | undefined): NamedEventType {
  const { facts } = context ?? {};
  if (facts === undefined) return event.type === "CUSTOM" ? { custom: event.name } : "error";
  return facts.eventType === "custom"
    ? { custom: facts.customName ?? "custom" }
    : (facts.eventType as NamedEventType);
}

/**
 * The canonical text that was hashed, if it can be sent unchanged. It has sorted members, so an event with values of the application is
 * serialised again, with their members in the agent's order.
 */
function sentText(event: AgUiEvent, context: EventContext | undefined): string | undefined {
  for (const name in event) {
    if (typeof event[name as keyof AgUiEvent] === "object") return undefined;
  }
  return context?.text;
}
