import type { JsonValue } from "@countersign/core";
import type { EventOf, JsonPatch, RunAgentInput } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import { digestOfValue } from "./digest.js";
import type { ThreadState } from "./thread-state.js";

/** States kept of a run that may break off: a client is rarely further behind. */
const MAX_VERSIONS = 32;

/**
 * The shared state as the client holds it: what it sent, and what the run made of it.
 *
 * Versions share what they have in common, and are hashed only when the run is over.
 */
export class RunState {
  #versions: JsonValue[];
  /** Size of the newest version, as the last patch told it. */
  #size: number | undefined;

  constructor(sent: JsonValue | undefined) {
    this.#versions = [sent ?? {}];
  }

  see(event: EventOf<"STATE_SNAPSHOT"> | EventOf<"STATE_DELTA">): void {
    if (event.type === "STATE_SNAPSHOT") {
      this.#size = undefined;
      this.#push(event.snapshot);
    } else this.#patch(event.delta);
  }

  /** Digests of what the client may send back: the newest, or of a cut run any. */
  digests(isCut: boolean): string[] {
    const versions = isCut ? this.#versions : this.#versions.slice(-1);
    return [...new Set(versions.filter((one) => !isEmpty(one)).map(digestOfValue))];
  }

  #patch(delta: JsonPatch): void {
    const newest = this.#versions.at(-1);
    if (newest === undefined) return;
    try {
      const result = applyJsonPatch(newest, delta, undefined, this.#size);
      // A client goes on with what it has.
      if (!result.applied) return;
      this.#size = result.size;
      this.#push(result.document);
    } catch {
      // Beyond every bound: nobody follows it from here on, and what comes back counts as new.
      this.#versions = [];
    }
  }

  #push(version: JsonValue): void {
    this.#versions.push(version);
    if (this.#versions.length > MAX_VERSIONS) this.#versions.shift();
  }
}

/** Whether the state in a request is what its client was left with. */
export function isStateEchoed({ state }: RunAgentInput, { shared }: ThreadState): boolean {
  return shared.length > 0 && !isEmpty(state) && shared.includes(digestOfValue(state as JsonValue));
}

function isEmpty(state: JsonValue | undefined): boolean {
  if (state === undefined || state === null) return true;
  return typeof state === "object" && Object.keys(state).length === 0;
}
