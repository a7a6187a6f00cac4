import { isCountersignError } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { JsonPatch, Message } from "@countersign/wire";
import { applyJsonPatch, DEFAULT_PATCH_LIMITS } from "@countersign/wire/reduce";
import type { PatchResult } from "@countersign/wire/reduce";
import type { Findings } from "./findings.js";

/** Activities followed at once; a stream with more is no longer judged here. */
const MAX_ACTIVITIES = 256;

/** Follows the content of activities, to tell patches that do not apply. */
export class Activities {
  readonly #findings: Findings;
  readonly #contents = new Map<string, JsonValue>();
  #lost = false;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** Something could not be read: from here on nothing is said about activities. */
  lose(): void {
    this.#lost = true;
    this.#contents.clear();
  }

  snapshot(id: string, content: JsonValue, replace: boolean): void {
    if (this.#lost || (!replace && this.#contents.has(id))) return;
    this.#contents.set(id, content);
    if (this.#contents.size > MAX_ACTIVITIES) this.lose();
  }

  /** The content of an activity as a client has it; undefined when it is not known. */
  content(id: string): JsonValue | undefined {
    return this.#contents.get(id);
  }

  /** Activities that came with history. */
  learn(messages: readonly Message[]): void {
    for (const message of messages) {
      if (message.role === "activity") this.snapshot(message.id, message.content, true);
    }
  }

  delta(id: string, patch: JsonPatch, eventNumber: number): void {
    if (this.#lost) return;
    const content = this.#contents.get(id);
    if (content === undefined) {
      this.#findings.report("activity/unknown-target", { eventNumber });
      return;
    }
    const result = apply(content, patch);
    if (result?.applied === true) {
      this.#contents.set(id, result.document);
      return;
    }
    this.lose();
    if (result !== undefined) {
      this.#findings.report("activity/patch-failed", { eventNumber, path: "/patch" });
    }
  }
}

/** Applies a patch; `undefined` when it exceeds a limit, which by itself is not a fault. */
export function apply(
  document: JsonValue,
  patch: JsonPatch,
  size?: number,
): PatchResult | undefined {
  try {
    return applyJsonPatch(document, patch, DEFAULT_PATCH_LIMITS, size);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return undefined;
  }
}
