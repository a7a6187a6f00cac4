import {
  assertWithin,
  CountersignError,
  isJsonObject,
  parseJson,
  resolveLimits,
} from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import { createChunkExpander } from "@countersign/wire/chunks";
import { enforceEventCompactly } from "@countersign/wire/enforce/compact";
import type { EnforceNote } from "@countersign/wire/enforce";
import type { MintId } from "../base/ids.js";
import { createLifecycle } from "./lifecycle.js";
import type { FinishNote } from "./lifecycle.js";
import type { ReadOptions } from "./options.js";

/** The stages from an event's text to the view, the same as in the gateway. */
export type StreamPipeline = {
  /**
   * The events of a frame, checked and with chunks expanded.
   *
   * @throws CountersignError when the stream is malformed or out of order; the pipeline cannot be
   * used afterwards
   */
  push(json: string): readonly AgUiEvent[];
  /** The stream has ended. */
  end(): void;
  /** Whether the requested run has ended. */
  readonly over: boolean;
  readonly events: number;
};

/** A deviation of the stream that did not end the run. */
export type StreamNote = EnforceNote | FinishNote;

/** Receives the notes on dropped members and other deviations that did not end the run. */
export type NoteListener = (notes: readonly StreamNote[]) => void;

/** Creates the pipeline of one stream. */
export function createPipeline(
  input: RunAgentInput,
  options: ReadOptions,
  mintId: MintId,
  onNotes?: NoteListener,
): StreamPipeline {
  const limits = resolveLimits(options.limits);
  const jsonLimits = { maxBytes: limits.maxEventBytes, maxDepth: limits.maxDepth };
  const translate = options.dialect?.open(input, mintId);
  const checkOrder = options.order?.(input);
  const expander = createChunkExpander({ maxLanes: limits.maxLanes });
  const lifecycle = createLifecycle(input, options.strict);
  let frames = 0;

  function check(value: JsonValue, out: AgUiEvent[]): void {
    const { event, notes } = enforceEventCompactly(value);
    if (notes.length > 0) onNotes?.(notes);
    if (event === undefined) return;
    for (const expanded of expander.push(event)) {
      const note = lifecycle.push(expanded);
      if (note !== undefined) onNotes?.([note]);
      checkOrder?.(expanded);
      out.push(expanded);
    }
  }

  return {
    push(json) {
      frames += 1;
      assertWithin("maxEvents", frames, limits.maxEvents);
      const value = parseJson(json, jsonLimits);
      const out: AgUiEvent[] = [];
      if (translate === undefined) check(value, out);
      else for (const event of translate(objectOf(value, frames))) check(event, out);
      return out;
    },
    end() {
      const note = lifecycle.end();
      if (note !== undefined) onNotes?.([note]);
    },
    get over() {
      return lifecycle.over;
    },
    get events() {
      return lifecycle.events;
    },
  };
}

function objectOf(value: JsonValue, eventNumber: number): JsonObject {
  if (isJsonObject(value)) return value;
  throw new CountersignError("ERR_CLIENT_ORDER", `event ${eventNumber} is not an object`, {
    rule: "event/object",
    eventNumber,
  });
}
