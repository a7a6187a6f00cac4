import { assertWithin } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import type { EventContext } from "../../event/event-context.js";

/** Events held at once; their bytes are bounded where the arguments are put together. */
const MAX_HELD_EVENTS = 10_000;

/** Tool calls that wait for their arguments, each with everything that arrived for it so far. */
export class HeldCalls {
  /** Made when the first call is held: most runs hold none. */
  #calls: Map<string, EventContext[]> | undefined;
  #events = 0;

  /** Whether a call is being held. */
  has(toolCallId: string): boolean {
    return this.#calls?.has(toolCallId) === true;
  }

  /** The held call an event belongs to, its own end excepted. */
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

  /** Starts holding a call, or adds to one that is held. */
  hold(toolCallId: string, context: EventContext): void {
    this.#events += 1;
    assertWithin("maxHeldEvents", this.#events, MAX_HELD_EVENTS);
    this.#calls ??= new Map();
    const held = this.#calls.get(toolCallId);
    if (held === undefined) this.#calls.set(toolCallId, [context]);
    else held.push(context);
  }

  /** Lets a call go, with all that was held of it, in order. */
  release(toolCallId: string): readonly EventContext[] {
    const held = this.#calls?.get(toolCallId) ?? [];
    this.#calls?.delete(toolCallId);
    this.#events -= held.length;
    return held;
  }

  /** The calls that are held. */
  ids(): string[] {
    return [...(this.#calls?.keys() ?? [])];
  }
}
