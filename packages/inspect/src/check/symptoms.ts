import type { JsonValue } from "@countersign/core";
import { isCountersignError, parseJson, writeJson } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import { applyJsonPatch, DEFAULT_PATCH_LIMITS } from "@countersign/wire/reduce";
import type { Findings } from "./findings.js";

/** Arguments kept per open call, and calls kept at once: enough for every real tool. */
const MAX_ARGUMENTS = 64 * 1024;
const MAX_CALLS = 256;

/** A trace of Python, JavaScript, Java or .NET; one is enough to know. */
const TRACE = /Traceback \(most recent call last\)|\n\s+at \S+|\n\s+File "/;

/** What is legal and still worth telling: the symptoms that users report. */
export class Symptoms {
  readonly #findings: Findings;
  #state: JsonValue | undefined;
  /** The size of the state, when a patch has measured it. */
  #size: number | undefined;
  /** A patch failed or an event was lost: later failures would only be its consequences. */
  #stateLost = false;
  #snapshotSeen = false;
  #assistantMessages = 0;
  #runs = 0;
  readonly #arguments = new Map<string, string | undefined>();

  constructor(findings: Findings, input: RunAgentInput | undefined) {
    this.#findings = findings;
    this.#state = input?.state ?? {};
  }

  /** Something about the state could not be read. */
  loseState(): void {
    this.#stateLost = true;
  }

  /** Looks at one event after chunk expansion. */
  push(event: AgUiEvent, eventNumber: number): void {
    switch (event.type) {
      case "RUN_STARTED":
        this.#runs++;
        this.#assistantMessages = 0;
        this.#arguments.clear();
        if (this.#runs > 1) this.#findings.report("run/several", { eventNumber });
        if (event.input?.state !== undefined && !this.#snapshotSeen) {
          this.#state = event.input.state;
          this.#size = undefined;
        }
        return;
      case "TEXT_MESSAGE_START":
        return this.#text(event.role ?? "assistant", eventNumber);
      case "TOOL_CALL_START":
        if (this.#arguments.size < MAX_CALLS) this.#arguments.set(event.toolCallId, "");
        return;
      case "TOOL_CALL_ARGS":
        return this.#append(event.toolCallId, event.delta);
      case "TOOL_CALL_END":
        return this.#callEnded(event.toolCallId, eventNumber);
      case "STATE_SNAPSHOT":
        return this.#snapshot(event.snapshot, eventNumber);
      case "STATE_DELTA":
        return this.#delta(event, eventNumber);
      case "CUSTOM":
        if (event.name === "on_interrupt") {
          this.#findings.report("interrupt/custom-event", { eventNumber });
        }
        return;
      case "RUN_ERROR":
        this.#findings.report("run/failed", { eventNumber });
        if (TRACE.test(event.message)) this.#findings.report("run/error-details", { eventNumber });
        return;
      default:
    }
  }

  #text(role: string, eventNumber: number): void {
    if (role !== "assistant") this.#findings.report("text/foreign-role", { eventNumber });
    else if (++this.#assistantMessages === 2) {
      this.#findings.report("text/several-messages", { eventNumber });
    }
  }

  #append(id: string, delta: string): void {
    const held = this.#arguments.get(id);
    if (held === undefined) return;
    this.#arguments.set(id, held.length + delta.length > MAX_ARGUMENTS ? undefined : held + delta);
  }

  #callEnded(id: string, eventNumber: number): void {
    const held = this.#arguments.get(id);
    this.#arguments.delete(id);
    // A call without arguments is what servers send for tools that take none.
    if (held === undefined || held === "") return;
    if (!isJsonObjectText(held)) this.#findings.report("tool-call/arguments", { eventNumber });
  }

  #snapshot(snapshot: JsonValue, eventNumber: number): void {
    const first = !this.#snapshotSeen;
    this.#snapshotSeen = true;
    this.#stateLost = false;
    this.#state = snapshot;
    this.#size = undefined;
    if (first && isEmptyObject(snapshot)) {
      this.#findings.report("state/empty-first-snapshot", { eventNumber });
    }
  }

  #delta(event: Extract<AgUiEvent, { type: "STATE_DELTA" }>, eventNumber: number): void {
    if (this.#stateLost || this.#state === undefined) return;
    try {
      const result = applyJsonPatch(this.#state, event.delta, DEFAULT_PATCH_LIMITS, this.#size);
      if (result.applied) {
        this.#state = result.document;
        this.#size = result.size;
        return;
      }
    } catch (error) {
      // Over a bound of the patch code: it can no longer be followed, which is no fault by itself.
      if (!isCountersignError(error)) throw error;
      this.#stateLost = true;
      return;
    }
    this.#stateLost = true;
    this.#findings.report("state/patch-failed", { eventNumber, path: "/delta" });
  }
}

function isJsonObjectText(text: string): boolean {
  try {
    const value = parseJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function isEmptyObject(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && writeJson(value) === "{}";
}
