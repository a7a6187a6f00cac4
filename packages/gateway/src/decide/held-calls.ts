import type { Passage } from "../pipeline/passage.js";

/** Tool calls that wait for their arguments, each with everything that arrived for it so far. */
export class HeldCalls {
  readonly #calls = new Map<string, Passage[]>();

  /** Whether a call is being held. */
  has(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  /** Starts holding a call, or adds to one that is held. */
  hold(toolCallId: string, passage: Passage): void {
    const held = this.#calls.get(toolCallId);
    if (held === undefined) this.#calls.set(toolCallId, [passage]);
    else held.push(passage);
  }

  /** Lets a call go, with all that was held of it, in order. */
  release(toolCallId: string): readonly Passage[] {
    const held = this.#calls.get(toolCallId) ?? [];
    this.#calls.delete(toolCallId);
    return held;
  }
}
