import type { JsonObject } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { createDowngrader, wrapEnvelope } from "@countersign/wire/dialects";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";
import type { Failure } from "./run-error.js";

/** The person's end of one run: it keeps the stream valid AG-UI whatever was withheld. */
export type ClientStream = {
  /** Delivers an event; `passage` tells an envelope client what it was judged to be. */
  write(event: AgUiEvent, passage?: Passage): void;
  /** Ends the run with RUN_ERROR, unless the client has already been told of an end that forbids it. */
  fail(failure: Failure): void;
  /** Whether the client is inside a run, where a notice is legal. */
  readonly isRunOpen: boolean;
  end(): void;
};

/** Opens the person's end in the dialect the client asked for. */
export function openClientStream(run: Run): ClientStream {
  const translate = createTranslation(run);
  let outgoing: AgUiEvent[] = [];
  let started = false;
  let terminal: "none" | "finished" | "error" = "none";

  // Events that became durable together leave in one write.
  const flush = (): void => {
    if (outgoing.length === 0) return;
    const events = outgoing;
    outgoing = [];
    run.sink.send(events);
  };
  const write = (event: AgUiEvent, passage?: Passage): void => {
    if (event.type === "RUN_STARTED") {
      started = true;
      terminal = "none";
    } else if (event.type === "RUN_FINISHED") terminal = "finished";
    else if (event.type === "RUN_ERROR") terminal = "error";
    if (outgoing.length === 0) queueMicrotask(flush);
    for (const value of translate(event, passage)) outgoing.push(value as unknown as AgUiEvent);
  };
  return {
    write,
    fail: ({ code, message }) => {
      // A second RUN_ERROR would make the official client throw.
      if (terminal !== "error") write({ type: "RUN_ERROR", message, code });
    },
    get isRunOpen() {
      return started && terminal === "none";
    },
    end: () => {
      flush();
      run.sink.end();
    },
  };
}

function createTranslation(
  run: Run,
): (event: AgUiEvent, passage?: Passage) => readonly JsonObject[] {
  if (run.clientDialect === "1.0") return (event) => [event as unknown as JsonObject];
  if (run.clientDialect === "envelope") return (event, passage) => envelopeOf(run, event, passage);
  const downgrader = createDowngrader(run.clientDialect);
  return (event) => {
    const { events, notes } = downgrader.push(event);
    if (notes.length > 0) run.observer.notes(notes);
    return events;
  };
}

/** An agent that speaks envelopes is answered to its clients in envelopes; the run around them is ours. */
function envelopeOf(run: Run, event: AgUiEvent, passage: Passage | undefined): JsonObject[] {
  const claimed = passage?.claim?.envelope;
  if (claimed !== undefined) return event.type === "RUN_STARTED" ? [] : [claimed as JsonObject];
  const { facts } = passage ?? {};
  return [
    wrapEnvelope(event, {
      eventId: run.mintId("event"),
      agentId: run.agent,
      sessionId: run.sessionId,
      timestamp: Math.floor(run.clock.now() / 1000),
      eventType:
        facts?.eventType === "custom"
          ? { custom: facts.customName ?? "custom" }
          : (facts?.eventType ?? "error"),
      classification: facts?.classification ?? "display",
      ...(facts?.target === undefined ? {} : { target: facts.target }),
    }) as unknown as JsonObject,
  ];
}
