import type { JsonObject } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { createDowngrader, upgradeEnvelope, wrapEnvelope } from "@countersign/wire/dialects";
import type { EnvelopeEventType } from "@countersign/wire/dialects";
import type { RunPhase } from "@countersign/wire/order";
import { readsEnvelopes } from "../order/stage.js";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";
import type { Failure } from "./run-error.js";

/** The person's end of one run: it keeps the stream valid AG-UI whatever was withheld. */
export type ClientStream = {
  /** Delivers an event that the guard has let on; `passage` is what it was judged to be. */
  write(event: AgUiEvent, passage?: Passage): void;
  /** Ends the run with RUN_ERROR, unless the client has already been told of an end that forbids it. */
  fail(failure: Failure): void;
  /** Sends what was written since the last time in one piece. */
  flush(): void;
  /** Whether the client is inside a run, where a notice is legal. */
  readonly isRunOpen: boolean;
  end(): void;
};

type Translation = (event: AgUiEvent, passage?: Passage) => readonly JsonObject[];

/** Opens the person's end in the dialect the client asked for. */
export function openClientStream(run: Run): ClientStream {
  const translate = createTranslation(run);
  let phase: RunPhase = "idle";
  const isNative = run.clientDialect === "1.0";
  let outgoing: AgUiEvent[] = [];
  let texts: (string | undefined)[] = [];

  // Events that became durable together leave in one write.
  const flush = (): void => {
    if (outgoing.length === 0) return;
    run.sink.send(outgoing, texts);
    outgoing = [];
    texts = [];
  };
  const write = (event: AgUiEvent, passage?: Passage): void => {
    phase = phaseAfter(event, phase);
    if (run.delivered !== undefined && passage !== undefined) {
      for (const shown of shownForms(run, event, passage)) run.delivered(shown, passage);
    }
    if (isNative && passage?.claim === undefined) {
      outgoing.push(event);
      texts.push(passage?.text);
      return;
    }
    for (const value of translate(event, passage)) {
      // The text that was hashed is sent, unless the dialect made something else of the event.
      const isHashed = (value as unknown) === event;
      outgoing.push(value as unknown as AgUiEvent);
      texts.push(isHashed ? passage?.text : undefined);
    }
  };
  return {
    write,
    flush,
    fail: ({ code, message }) => {
      // A second RUN_ERROR would make the official client throw.
      if (phase !== "errored") write({ type: "RUN_ERROR", message, code });
    },
    get isRunOpen() {
      return phase === "active";
    },
    end: () => {
      flush();
      run.sink.end();
    },
  };
}

function phaseAfter({ type }: AgUiEvent, before: RunPhase): RunPhase {
  if (type === "RUN_STARTED") return "active";
  if (type === "RUN_FINISHED") return "finished";
  return type === "RUN_ERROR" ? "errored" : before;
}

/** The events a client is shown of a passage, before its dialect; of an envelope, what a native client gets. */
export function shownForms(run: Run, event: AgUiEvent, passage: Passage): readonly AgUiEvent[] {
  return passage.claim === undefined || readsEnvelopes(run)
    ? [event]
    : (nativeOf(event, passage) as unknown as AgUiEvent[]);
}

function createTranslation(run: Run): Translation {
  const { clientDialect } = run;
  if (clientDialect === "1.0") return nativeOf;
  if (clientDialect === "envelope") return (event, passage) => envelopeOf(run, event, passage);
  if (clientDialect === "as-sent") {
    let enveloped = run.agentDialect === "chio";
    return (event, passage) => {
      // The run around envelopes is ours; such a client never hears of it.
      enveloped ||= passage?.claim !== undefined || passage?.supplied === true;
      return enveloped ? envelopeOf(run, event, passage) : nativeOf(event, passage);
    };
  }
  const downgrader = createDowngrader(clientDialect);
  return (event, passage) =>
    nativeOf(event, passage).flatMap((value) => {
      const { events, notes } = downgrader.push(value as unknown as AgUiEvent);
      if (notes.length > 0) run.observer.notes(notes);
      return events;
    });
}

function nativeOf(event: AgUiEvent, passage: Passage | undefined): JsonObject[] {
  const claim = passage?.claim;
  return claim === undefined ? [event as unknown as JsonObject] : upgradeEnvelope(claim.envelope);
}

/** An agent that speaks envelopes is answered to its clients in envelopes; the run around them is ours. */
function envelopeOf(run: Run, event: AgUiEvent, passage: Passage | undefined): JsonObject[] {
  if (passage?.supplied === true) return [];
  const claimed = passage?.claim?.envelope;
  if (claimed !== undefined) return [claimed as JsonObject];
  const { facts } = passage ?? {};
  const wrapped = wrapEnvelope(event, {
    eventId: run.mintId("event"),
    agentId: run.agent,
    sessionId: run.sessionId,
    timestamp: Math.floor(run.clock.now() / 1000),
    eventType: eventTypeOf(event, passage),
    classification: facts?.classification ?? "display",
    ...(facts?.target === undefined ? {} : { target: facts.target }),
  });
  return wrapped === undefined ? [] : [wrapped as unknown as JsonObject];
}

/** What the gateway says by itself is an error or a notice. */
function eventTypeOf(event: AgUiEvent, passage: Passage | undefined): EnvelopeEventType {
  const { facts } = passage ?? {};
  if (facts === undefined) return event.type === "CUSTOM" ? { custom: event.name } : "error";
  return facts.eventType === "custom"
    ? { custom: facts.customName ?? "custom" }
    : (facts.eventType as EnvelopeEventType);
}
