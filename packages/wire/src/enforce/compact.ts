import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import { RUN_AGENT_INPUT } from "../model/shapes.js";
import { EVENT_SHAPES } from "../model/table.js";
import { malformed, notAnEvent } from "./errors.js";
import { boundedName } from "./note.js";
import type { EnforceNote, Removal } from "./note.js";
import { Walk } from "./walk.js";

/** An event that passed, or nothing when its type is unknown; and what was removed. */
export type EnforcedEvent =
  | { readonly event: AgUiEvent; readonly notes: readonly EnforceNote[] }
  | { readonly event: undefined; readonly notes: readonly EnforceNote[] };

/** An input that passed, and what was removed. */
export type EnforcedInput = {
  readonly input: RunAgentInput;
  readonly notes: readonly EnforceNote[];
};

/**
 * Does the same as `enforceEvent` by walking the shape of every event: 0.3 µs more for a text delta
 * and 2.5 KB less to download, because no predicate is emitted per type. For browsers.
 */
export function enforceEventCompactly(value: JsonValue): EnforcedEvent {
  if (!isJsonObject(value)) throw notAnEvent(value);
  const type = Object.hasOwn(value, "type") ? value["type"] : undefined;
  // The transport rule of 1.0, applied here so that it holds on every transport.
  if (typeof type !== "string" || type === "") throw notAnEvent(type);
  const known = EVENT_SHAPES.get(type);
  if (known === undefined) {
    return {
      event: undefined,
      notes: [{ kind: "unknownEvent", path: "", type: boundedName(type) }],
    };
  }
  const walk = new Walk(type);
  const event = walk.object(known, value, "", "type") as unknown as AgUiEvent;
  return { event, notes: walk.notes.finish() };
}

/** Does the same as `enforceInput`, in the same way. */
export function enforceInputCompactly(
  value: JsonValue,
  onRemoved?: (removal: Removal) => void,
): EnforcedInput {
  if (!isJsonObject(value)) throw malformed("RunAgentInput", "", "an object", value);
  const walk = new Walk("RunAgentInput", onRemoved);
  const input = walk.object(RUN_AGENT_INPUT, value, "") as unknown as RunAgentInput;
  return { input, notes: walk.notes.finish() };
}
