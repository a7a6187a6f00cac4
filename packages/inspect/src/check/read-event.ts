import type { JsonObject } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { enforceEvent } from "@countersign/wire/enforce";
import type { EnforceNote } from "@countersign/wire/enforce";
import { explainError } from "./explain.js";
import type { RuleMatch } from "./explain.js";

/** An event as far as it can be read, and everything that is wrong with it. */
export type ReadEvent = {
  readonly event: AgUiEvent | undefined;
  readonly problems: readonly RuleMatch[];
  readonly notes: readonly EnforceNote[];
};

const NONE: readonly RuleMatch[] = Object.freeze([]);

/** Faults looked for in one event. */
const MOST_PROBLEMS = 8;

/**
 * Reads an event for judging only: a faulty field is reported and left out, so that one bad timestamp
 * does not make every later event look out of order. What comes out is never sent to anyone.
 */
export function readEventLeniently(value: JsonObject): ReadEvent {
  let problems: RuleMatch[] | undefined;
  let rest = value;
  for (;;) {
    try {
      const { event, notes } = enforceEvent(rest);
      return { event, notes, problems: problems ?? NONE };
    } catch (error) {
      const explained = explainError(error);
      const field = explained.place.path?.split("/")[1];
      // Left out a moment ago: it is required, so the event cannot be read.
      const needed = problems?.some(({ place }) => place.path?.split("/")[1] === field) ?? false;
      if (!needed) (problems ??= []).push(explained);
      const again = !needed && field !== undefined && Object.hasOwn(rest, field);
      if (!again || (problems?.length ?? 0) >= MOST_PROBLEMS) {
        return { event: undefined, notes: [], problems: problems ?? NONE };
      }
      const { [field]: _left, ...others } = rest;
      rest = others;
    }
  }
}

/** Whether the 1.0 client reads the value as it is. */
export function isReadable(value: JsonObject): boolean {
  try {
    enforceEvent(value);
    return true;
  } catch {
    return false;
  }
}
