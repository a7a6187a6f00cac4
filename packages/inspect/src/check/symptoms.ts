import type { JsonValue } from "@countersign/core";
import { isJsonObject, parseJson, writeJson } from "@countersign/core";
import type { AgUiEvent, EventOf, JsonPatch, RunAgentInput } from "@countersign/wire";
import { Activities, apply } from "./activities.js";
import type { Findings } from "./findings.js";
import { Interfaces } from "./interfaces.js";

/** Arguments kept per open call, and calls kept at once: enough for every real tool. */
const MAX_ARGUMENTS = 64 * 1024;
const MAX_CALLS = 256;

/** A trace of Python, JavaScript, Java or .NET; one is enough to know. */
const TRACE = /Traceback \(most recent call last\)|\n\s+at \S+|\n\s+File "/;

/** Characters quoted of the message of a run that failed before it showed anything. */
const MAX_QUOTED = 200;

/** Events that show nothing of an answer: a run that ends in an error after them alone never worked. */
const BEFORE_AN_ANSWER: ReadonlySet<string> = new Set([
  "RUN_STARTED",
  "RUN_ERROR",
  "STEP_STARTED",
  "STEP_FINISHED",
  "RAW",
]);

/** Reports legal streams that cause the symptoms users complain about. */
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
  /** The current run has shown something of an answer. */
  #hasAnswered = false;
  readonly #activities: Activities;
  readonly #interfaces: Interfaces;
  #interrupts: readonly string[] = [];
  readonly #arguments = new Map<string, string | undefined>();

  constructor(
    findings: Findings,
    input: RunAgentInput | undefined,
    openInterrupts: readonly string[] = [],
  ) {
    this.#findings = findings;
    this.#state = input?.state ?? {};
    this.#activities = new Activities(findings);
    this.#interfaces = new Interfaces(findings, (id) => this.#activities.content(id));
    this.#interrupts = openInterrupts;
    if (input === undefined) return;
    this.#activities.learn(input.messages);
    this.#resumed(input, 0);
    this.#interrupts = [];
  }

  /** Something about the state could not be read. */
  loseState(): void {
    this.#stateLost = true;
    this.#activities.lose();
  }

  /** Interrupts that the last run left open. */
  openInterrupts(): readonly string[] {
    return this.#interrupts;
  }

  #resumed(input: RunAgentInput, eventNumber: number): void {
    const answered = new Set(input.resume?.map(({ interruptId }) => interruptId));
    const left = this.#interrupts.filter((id) => !answered.has(id));
    if (left.length > 0) {
      this.#findings.report("interrupt/resume-coverage", {
        eventNumber,
        detail: `${left.length} unanswered`,
      });
    }
  }

  /** The conventions of generated interfaces that the stream uses. */
  get conventions(): ReadonlySet<string> {
    return this.#interfaces.conventions;
  }

  /** The stream is over. */
  end(): void {
    this.#interfaces.end();
  }

  /** Looks at one event after chunk expansion. */
  push(event: AgUiEvent, eventNumber: number): void {
    this.#look(event, eventNumber);
    this.#interfaces.push(event, eventNumber);
  }

  #look(event: AgUiEvent, eventNumber: number): void {
    this.#hasAnswered ||= !BEFORE_AN_ANSWER.has(event.type);
    switch (event.type) {
      case "RUN_STARTED":
        this.#runs++;
        this.#hasAnswered = false;
        this.#assistantMessages = 0;
        this.#arguments.clear();
        if (this.#runs > 1) this.#findings.report("run/several", { eventNumber });
        if (event.input !== undefined) {
          this.#activities.learn(event.input.messages);
          if (this.#runs > 1) this.#resumed(event.input, eventNumber);
        }
        this.#interrupts = [];
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
        return this.#delta(event.delta, eventNumber);
      case "ACTIVITY_SNAPSHOT":
        this.#activities.snapshot(event.messageId, event.content, event.replace !== false);
        return;
      case "ACTIVITY_DELTA":
        this.#activities.delta(event.messageId, event.patch, eventNumber);
        return;
      case "MESSAGES_SNAPSHOT":
        this.#activities.learn(event.messages);
        return;
      case "RUN_FINISHED":
        this.#interrupts =
          event.outcome?.type === "interrupt" ? event.outcome.interrupts.map(({ id }) => id) : [];
        return;
      case "CUSTOM":
        if (event.name === "on_interrupt") {
          this.#findings.report("interrupt/custom-event", { eventNumber });
        }
        return;
      case "RUN_ERROR":
        if (this.#hasAnswered) this.#findings.report("run/failed", { eventNumber });
        else
          this.#findings.report("run/failed-at-once", { eventNumber, detail: quoteError(event) });
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

  #delta(patch: JsonPatch, eventNumber: number): void {
    if (this.#stateLost || this.#state === undefined) return;
    const result = apply(this.#state, patch, this.#size);
    if (result?.applied === true) {
      this.#state = result.document;
      this.#size = result.size;
      return;
    }
    this.#stateLost = true;
    if (result !== undefined) {
      this.#findings.report("state/patch-failed", { eventNumber, path: "/delta" });
    }
  }
}

function isJsonObjectText(text: string): boolean {
  try {
    return isJsonObject(parseJson(text));
  } catch {
    return false;
  }
}

function isEmptyObject(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && writeJson(value) === "{}";
}

/** Quotes the agent's error in one bounded line, because a developer reads it first. */
function quoteError({ code, message }: EventOf<"RUN_ERROR">): string {
  const said = message.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").trim();
  const quoted = said.length > MAX_QUOTED ? `${said.slice(0, MAX_QUOTED)}…` : said;
  return code === undefined ? `the agent says: ${quoted}` : `the agent says: ${quoted} (${code})`;
}
