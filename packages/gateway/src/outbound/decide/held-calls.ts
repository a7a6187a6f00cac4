import { assertWithin } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";

/** The limit of held events. The buffer of the arguments bounds their bytes. */
const MAX_HELD_EVENTS = 10_000;

/** Tool calls that wait for their arguments, each with the events received so far. */
export class HeldCalls {
  /** Created with the first held call: most runs hold none. */
  #calls: Map<string, EventContext[]> | undefined;
  #events = 0;

  /** Whether a call is being held. */
  has(toolCallId: string): boolean {
    return this.#calls?.has(toolCallId) === true;
  }

  /** The held call that an event belongs to, except for the call's own end. */
  callOf(event: AgUiEvent): string | undefined {
    if (this.#calls === undefined) return undefined;
    const id =
      event.type === "TOOL_CALL_ARGS" || event.type === "TOOL_CALL_RESULT"
        ? event.toolCallId
        : event.type === "REASONING_ENCRYPTED_VALUE" && event.subtype === "tool-call"
          ? event.entityId
          : undefined;
    return id !== undefined && this.#calls.has(id) ? id : undefined;
  }

  /** Holds a call, or adds an event to a held one. */
  hold(toolCallId: string, context: EventContext): void {
    this.#events += 1;
    assertWithin("maxHeldEvents", this.#events, MAX_HELD_EVENTS);
    this.#calls ??= new Map();
    const held = this.#calls.get(toolCallId);
    if (held === undefined) this.#calls.set(toolCallId, [context]);
    else held.push(context);
  }

  /** Releases a call. Returns its held events in order. */
  release(toolCallId: string): readonly EventContext[] {
    const held = this.#calls?.get(toolCallId) ?? [];
    this.#calls?.delete(toolCallId);
    this.#events -= held.length;
    return held;
  }

  ids(): string[] {
    return [...(this.#calls?.keys() ?? [])];
  }
}
