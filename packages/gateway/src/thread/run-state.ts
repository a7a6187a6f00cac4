import type { JsonValue } from "@countersign/core";
import type { EventOf, JsonPatch } from "@countersign/wire";
import { applyJsonPatch, measureJson } from "@countersign/wire/reduce";
import {
  isEmptyState,
  NO_SHARED_STATE,
  sharedStateOf,
  stateAtStart,
  UNKNOWN_SHARED_STATE,
} from "./shared-state.js";
import type { SharedState } from "./shared-state.js";

/** States kept of a run that may break off: a client is rarely further behind. */
const MAX_VERSIONS = 32;
/** Maximum size of a tracked state: characters, plus eight for each value. Most policies accept no larger one. */
const MAX_SIZE = 512 * 1024;
/** Maximum size of pending changes: applied alone, each change of a state of ten thousand keys costs milliseconds. */
const MAX_WAITING = 256 * 1024;
/** Maximum size of all states of a cut run, which are hashed together. */
const MAX_HASHED = 1024 * 1024;
/** Changes in one batch that do not apply. */
const MAX_FAILED = 8;
const LIMITS = { maxOperations: Number.MAX_SAFE_INTEGER, maxSize: MAX_SIZE, maxDepth: 64 };

/** A change of the state; a whole one replaces it. */
type Change = { readonly patch: JsonPatch; readonly size: number; readonly isWhole: boolean };

/**
 * The shared state as the client holds it: the state it sent, with the run's changes.
 *
 * Changes are applied in batches, when there are many or the run is over: an agent's delta of fifty
 * bytes must not cost a copy of the whole state.
 */
export class RunState {
  /**
   * The state before the pending changes; `undefined` above a limit: a state that the client sends then counts as new.
   */
  #base: JsonValue | undefined;
  #changes: Change[] = [];
  #waiting = 0;
  /** The states that the client may hold while the gateway does not know the newest one. */
  #fallback: SharedState;

  /**
   * @param isTaken the policy allowed the client's state; otherwise it is treated as not delivered
   * @param earlier the states that earlier runs left
   */
  constructor(sent: JsonValue | undefined, isTaken = true, earlier = NO_SHARED_STATE) {
    this.#base = isTaken || isEmptyState(sent) ? stateAtStart(sent, earlier) : undefined;
    this.#fallback = isEmptyState(sent) ? earlier : UNKNOWN_SHARED_STATE;
  }

  see(event: EventOf<"STATE_SNAPSHOT"> | EventOf<"STATE_DELTA">): void {
    this.#fallback = UNKNOWN_SHARED_STATE;
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

  /** The states that the client may send back: the newest one, or for a cut run any of several. */
  left(isCut: boolean): SharedState {
    const changes = this.#changes;
    const newest = this.#after(changes.length);
    if (newest === undefined) return this.#fallback;
    const affordable = isCut ? Math.floor(MAX_HASHED / sizeOf(newest)) : 0;
    const kept = Math.min(changes.length, MAX_VERSIONS - 1, affordable);
    const versions = [this.#after(changes.length - kept)];
    for (const change of changes.slice(changes.length - kept)) {
      versions.push(changed(versions.at(-1), [change]));
    }
    return sharedStateOf(
      versions.filter((one) => one !== undefined && !isEmptyState(one)) as JsonValue[],
    );
  }

  /** Applies the older changes, and keeps pending those that the client may lack. */
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

/** Applies changes to a state; like a client, it skips a change that does not apply. */
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
    // The state is above a limit.
  }
  return undefined;
}

/** The size of a state; infinite when it is too deep. */
function sizeOf(value: JsonValue): number {
  const size = measureJson(value, LIMITS.maxDepth);
  return typeof size === "number" ? size : Number.POSITIVE_INFINITY;
}
