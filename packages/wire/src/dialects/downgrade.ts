import type { JsonObject } from "@countersign/core";
import { createChunkExpander } from "../chunks/index.js";
import type { AgUiEvent } from "../model/event.js";
import { createLegacyDowngrader } from "./legacy/downgrade.js";
import type { LegacyTarget } from "./legacy/downgrade.js";
import { createNoteSink } from "./note.js";
import type { DialectNote, NoteSink } from "./note.js";
import { createSupersededDowngrader } from "./superseded/downgrade.js";
import { DEFAULT_CALL_BUFFER_LIMITS } from "./superseded/call-buffer.js";
import type { CallBufferLimits } from "./superseded/call-buffer.js";

/** The dialects a client may request. */
export type DowngradeTarget = LegacyTarget | "0.1.0" | "1.0";

/** The result of translating one 1.0 event for an older client. */
export type DowngradeResult = { events: JsonObject[]; notes: DialectNote[] };

/** Writes one 1.0 stream for an older client. Dead after an error. */
export type Downgrader = {
  /** Takes an enforced event, in the order in which ordering let it pass. */
  push(event: AgUiEvent): DowngradeResult;
  end(): DowngradeResult;
};

const LEGACY = new Set(["0.0.55", "0.0.59"]);

/**
 * Makes the translator of one stream towards an older client.
 *
 * Chunks are expanded first: the older clients know no lanes and would add the text of one subagent
 * to the message of another.
 */
export function createDowngrader(
  target: DowngradeTarget,
  limits: Partial<CallBufferLimits> = {},
): Downgrader {
  const translate = createTranslation(target, { ...DEFAULT_CALL_BUFFER_LIMITS, ...limits });
  const expander = createChunkExpander();
  let eventNumber = 0;
  let failure: unknown;

  function run(events: readonly AgUiEvent[]): DowngradeResult {
    const notes: DialectNote[] = [];
    const note = createNoteSink(notes, eventNumber);
    return { events: events.flatMap((event) => translate(event, note)), notes };
  }

  function guarded(action: () => DowngradeResult): DowngradeResult {
    if (failure !== undefined) throw failure;
    try {
      return action();
    } catch (error) {
      failure = error;
      throw error;
    }
  }

  return {
    push: (event) =>
      guarded(() => {
        eventNumber += 1;
        return run(target === "1.0" ? [event] : expander.push(event));
      }),
    end: () => guarded(() => run(target === "1.0" ? [] : expander.end())),
  };
}

function createTranslation(
  target: DowngradeTarget,
  limits: CallBufferLimits,
): (event: AgUiEvent, note: NoteSink) => JsonObject[] {
  if (target === "1.0") return (event) => [event as unknown as JsonObject];
  if (target === "0.1.0") return createSupersededDowngrader(limits);
  if (!LEGACY.has(target)) throw new TypeError("target must be 0.0.55, 0.0.59, 0.1.0 or 1.0");
  return createLegacyDowngrader(target) as unknown as (
    event: AgUiEvent,
    note: NoteSink,
  ) => JsonObject[];
}
