import type { JsonValue } from "@countersign/core";
import type { EventOf, JsonPatch } from "@countersign/wire";
import { applyJsonPatch, measureJson } from "@countersign/wire/reduce";
import { NO_SHARED_STATE, sharedStateOf } from "./shared-state.js";
import type { SharedState } from "./shared-state.js";

/** States kept of a run that may break off: a client is rarely further behind. */
const MAX_VERSIONS = 32;
/** Characters, and eight for every value, of a state that is followed; most policies accept no larger one back. */
const MAX_SIZE = 512 * 1024;
/** The same of changes that wait to be made: those of a state of ten thousand keys cost milliseconds each, alone. */
const MAX_WAITING = 256 * 1024;
/** The same of all states of a cut run together, which are hashed at once. */
const MAX_HASHED = 1024 * 1024;
/** Changes that do not apply, among those made together. */
const MAX_FAILED = 8;
const LIMITS = { maxOperations: Number.MAX_SAFE_INTEGER, maxSize: MAX_SIZE, maxDepth: 64 };

/** A change of the state; a whole one leaves nothing of what was there. */
type Change = { readonly patch: JsonPatch; readonly size: number; readonly isWhole: boolean };

/**
 * The shared state as the client holds it: what it sent, and what the run made of it.
 *
 * Changes wait until there are many or the run is over, and are then made together: an agent's delta of fifty bytes
 * must not cost a copy of all it leaves as it was.
 */
export class RunState {
  /** Before the changes; undefined once it is beyond a bound: nobody follows it, and what comes back counts as new. */
  #base: JsonValue | undefined;
  #changes: Change[] = [];
  #waiting = 0;

  /** @param isTaken the client was allowed to send it; else it is nothing that anybody left it with */
  constructor(sent: JsonValue | undefined, isTaken = true) {
    this.#base = isTaken || isEmpty(sent) ? (sent ?? {}) : undefined;
  }

  see(event: EventOf<"STATE_SNAPSHOT"> | EventOf<"STATE_DELTA">): void {
    const isWhole = event.type === "STATE_SNAPSHOT";
    const patch: JsonPatch = isWhole
      ? [{ op: "add", path: "", value: event.snapshot }]
      : event.delta;
    const size = sizeOf(patch as JsonValue);
    if (size > MAX_SIZE) {
      this.#base = undefined;
      this.#changes = [];
      this.#waiting = 0;
      return;
    }
    this.#changes.push({ patch, size, isWhole });
    this.#waiting += size;
    if (this.#waiting > MAX_WAITING) this.#settle();
  }

  /** What the client may send back: the newest, or of a cut run any. */
  left(isCut: boolean): SharedState {
    const changes = this.#changes;
    const newest = this.#after(changes.length);
    if (newest === undefined) return NO_SHARED_STATE;
    const affordable = isCut ? Math.floor(MAX_HASHED / sizeOf(newest)) : 0;
    const kept = Math.min(changes.length, MAX_VERSIONS - 1, affordable);
    const versions = [this.#after(changes.length - kept)];
    for (const change of changes.slice(changes.length - kept)) {
      versions.push(changed(versions.at(-1), [change]));
    }
    return sharedStateOf(
      versions.filter((one) => one !== undefined && !isEmpty(one)) as JsonValue[],
    );
  }

  /** Makes the older changes, and leaves those that a client may be without. */
  #settle(): void {
    const changes = this.#changes;
    let first = changes.length;
    let waiting = 0;
    for (; changes.length - first < MAX_VERSIONS - 1; first -= 1) {
      const size = changes[first - 1]?.size ?? MAX_WAITING;
      if (waiting + size > MAX_WAITING / 2) break;
      waiting += size;
    }
    this.#base = this.#after(first);
    this.#changes = changes.slice(first);
    this.#waiting = waiting;
  }

  #after(count: number): JsonValue | undefined {
    const whole = this.#changes.findLastIndex(({ isWhole }, index) => isWhole && index < count);
    return changed(this.#base, this.#changes.slice(Math.max(whole, 0), count));
  }
}

/** What changes make of a state; a client goes on with what it has where one does not apply. */
function changed(state: JsonValue | undefined, changes: readonly Change[]): JsonValue | undefined {
  const base = changes[0]?.isWhole === true ? null : state;
  if (base === undefined) return undefined;
  const left = [...changes];
  try {
    for (let failed = 0; failed <= MAX_FAILED; failed += 1) {
      const patch = left.flatMap((change) => change.patch);
      const result = applyJsonPatch(base, patch, LIMITS);
      if (result.applied) return result.size > MAX_SIZE ? undefined : result.document;
      let { operation } = result;
      const at = left.findIndex((change) => (operation -= change.patch.length) < 0);
      left.splice(at, 1);
    }
  } catch {
    // Beyond a bound.
  }
  return undefined;
}

/** A state that is too deep is beyond every bound. */
function sizeOf(value: JsonValue): number {
  const size = measureJson(value, LIMITS.maxDepth);
  return typeof size === "number" ? size : Number.POSITIVE_INFINITY;
}

function isEmpty(state: JsonValue | undefined): boolean {
  if (state === undefined || state === null) return true;
  return typeof state === "object" && Object.keys(state).length === 0;
}
