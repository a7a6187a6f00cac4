import { createJsonSequence, utf8Length, writeJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";
import { createChunkExpander } from "@countersign/wire/chunks";
import { createRepairer, createUpgrader } from "@countersign/wire/dialects";
import type {
  Dialect,
  EmitterProfile,
  Repairer,
  RepairResult,
  Upgrader,
  UpgradeResult,
} from "@countersign/wire/dialects";
import { createRunAutomaton } from "@countersign/wire/order";
import type { RuleId } from "../rules/table.js";
import { explainDialect, explainError, explainNote, typeOf } from "./explain.js";
import type { RuleMatch } from "./explain.js";
import type { Findings, Place } from "./findings.js";
import { isReadable, readEventLeniently } from "./read-event.js";
import { EmitterDetector, profilesOf, requestedRun } from "./emitter.js";
import { SummaryCounter } from "./summary.js";
import type { StreamSummary } from "./summary.js";
import { Symptoms } from "./symptoms.js";

/** One event as it was seen, for timelines. */
export type SeenEvent = {
  readonly eventNumber: number;
  /** Empty when the frame held no event. */
  readonly type: string;
  /** Bytes of its JSON. */
  readonly bytes: number;
  /** The rules it broke. */
  readonly rules: readonly RuleId[];
  /** The event's own timestamp, when it is a number. */
  readonly timestamp?: number;
  /** The event as it was received; for proto, as it was decoded. */
  readonly source: JsonValue;
};

/** Options of a stream check. */
export type StreamCheckOptions = {
  readonly findings: Findings;
  /** The request, to compare the ids of the response with. */
  readonly input?: RunAgentInput;
  /** Interrupts that the run before on this thread left open. */
  readonly openInterrupts?: readonly string[];
  /** The emitter profile of the agent at its gateway: the deviations that it repairs are notes. `strict` by default. */
  readonly profile?: EmitterProfile;
  /** The dialect of the agent at its gateway: the translations from it are notes. Findings of their own by default. */
  readonly dialect?: Dialect | "auto";
  readonly onEvent?: (event: SeenEvent) => void;
};

/** Checks the events of one stream (layer 3). Never throws on data: broken input is its input. */
export type StreamCheck = {
  /** Takes the JSON text of the next event. */
  text(json: string): void;
  /** Takes the next event as a value; `bytes` is its size on the wire. */
  value(value: JsonValue, bytes: number): void;
  /** Takes a frame that held no event; `lost` when it may have stood for one. */
  skip(rule: RuleId, bytes: number, lost: boolean): void;
  /** The end of the stream. */
  end(): void;
  summary(): StreamSummary;
  /** Interrupts that the last run left open, for the next one on the thread. */
  openInterrupts(): readonly string[];
};

const LARGE_EVENT = 1024 * 1024;
const NO_RULES: readonly RuleId[] = Object.freeze([]);

/** Types whose loss changes nothing about the order of the rest. */
const LOOSE: ReadonlySet<string> = new Set([
  "TEXT_MESSAGE_CONTENT",
  "TOOL_CALL_ARGS",
  "REASONING_MESSAGE_CONTENT",
  "STATE_SNAPSHOT",
  "STATE_DELTA",
  "ACTIVITY_SNAPSHOT",
  "ACTIVITY_DELTA",
  "REASONING_ENCRYPTED_VALUE",
  "RAW",
  "CUSTOM",
]);

/** Creates the check of one stream. */
export function createStreamCheck(options: StreamCheckOptions): StreamCheck {
  return new Check(options);
}

class Check implements StreamCheck {
  readonly #findings: Findings;
  readonly #input: RunAgentInput | undefined;
  readonly #onEvent: ((event: SeenEvent) => void) | undefined;
  readonly #counter = new SummaryCounter();
  readonly #symptoms: Symptoms;
  readonly #emitter: EmitterDetector;
  readonly #repairer: Repairer | undefined;
  readonly #dialect: Dialect | "auto" | undefined;
  readonly #texts = createJsonSequence();
  #upgrader: Upgrader;
  #expander = createChunkExpander();
  #automaton: ReturnType<typeof createRunAutomaton>;
  #flagged: RuleId[] | undefined;
  #minted = 0;
  /** An event was lost, so the order of the rest of its run cannot be judged. */
  #blind = false;
  #lostAt = 0;
  /** Another protocol than AG-UI: one finding says so, its consequences are not listed. */
  #foreign = false;

  constructor(options: StreamCheckOptions) {
    this.#findings = options.findings;
    this.#input = options.input;
    this.#onEvent = options.onEvent;
    this.#symptoms = new Symptoms(
      { ...options.findings, report: this.#report },
      options.input,
      options.openInterrupts,
    );
    this.#emitter = new EmitterDetector(options.input);
    this.#repairer = createRepairer({
      profile: options.profile ?? "strict",
      endsByItself: true,
      input: requestedRun(options.input),
    });
    this.#dialect = options.dialect;
    this.#upgrader = this.#createUpgrader(options.dialect ?? "auto");
    this.#automaton = this.#createAutomaton();
  }

  text(json: string): void {
    const bytes = utf8Length(json);
    let value: JsonValue;
    try {
      value = this.#texts.parse(json);
    } catch (error) {
      this.#counter.count("", bytes);
      this.#explain(explainError(error));
      this.#lose("");
      this.#seen("", bytes, json);
      return;
    }
    this.value(value, bytes);
  }

  value(value: JsonValue, bytes: number): void {
    const type = typeOf(value);
    this.#counter.count(type, bytes);
    if (bytes > LARGE_EVENT) this.#report("event/large", { detail: `${bytes} bytes` });
    this.#weighRaw(value, type, bytes);
    const upgraded = this.#upgrade(value as JsonObject, type);
    for (const event of upgraded?.events ?? []) {
      this.#emitter.push(event);
      const repaired = this.#repairer?.push(event);
      if (repaired === undefined) this.#checkEvent(event, type);
      else this.#checkRepaired(repaired);
    }
    this.#seen(type, bytes, value);
  }

  skip(rule: RuleId, bytes: number, lost: boolean): void {
    this.#counter.count("", bytes);
    this.#report(rule);
    if (lost) this.#lose("");
    this.#seen("", bytes, null);
  }

  end(): void {
    this.#emitter.end();
    const held = this.#repairer?.end(false);
    if (held !== undefined) this.#checkRepaired(held);
    this.#symptoms.end();
    const { events, rawBytes, bytes } = this.#counter;
    if (rawBytes * 2 > bytes)
      this.#findings.report("event/raw-heavy", { detail: `${rawBytes} of ${bytes} bytes` });
    if (this.#foreign) return;
    const follows = this.#automaton.runState() === "active" && events > this.#lostAt;
    if (this.#blind && !follows) return;
    try {
      for (const { rule, eventNumber } of this.#automaton.end()) {
        this.#findings.report(rule, { eventNumber });
      }
    } catch (error) {
      const { rule, place } = explainError(error);
      this.#findings.report(rule, place);
    }
  }

  summary(): StreamSummary {
    const { conventions } = this.#symptoms;
    const summary = this.#counter.summary(this.#upgrader.dialect, conventions);
    return { ...summary, emitter: this.#emitter.facts() };
  }

  openInterrupts(): readonly string[] {
    return this.#symptoms.openInterrupts();
  }

  readonly #report = (rule: RuleId, place: Place = {}): void => {
    (this.#flagged ??= []).push(rule);
    this.#findings.report(rule, { eventNumber: this.#counter.events, ...place });
  };

  #explain({ rule, place }: RuleMatch): void {
    this.#report(rule, place);
  }

  #seen(type: string, bytes: number, source: JsonValue): void {
    const rules = this.#flagged ?? NO_RULES;
    this.#flagged = undefined;
    if (this.#onEvent === undefined) return;
    const timestamp = type === "" ? undefined : (source as JsonObject)["timestamp"];
    this.#onEvent({
      eventNumber: this.#counter.events,
      type,
      bytes,
      rules,
      source,
      ...(typeof timestamp === "number" ? { timestamp } : {}),
    });
  }

  #weighRaw(value: JsonValue, type: string, bytes: number): void {
    if (type === "RAW") this.#counter.rawBytes += bytes;
    else if (type !== "") {
      const raw = (value as JsonObject)["rawEvent"];
      if (raw !== undefined) this.#counter.rawBytes += writeJson(raw).length;
    }
  }

  #upgrade(value: JsonObject, type: string): UpgradeResult | undefined {
    let result: UpgradeResult;
    try {
      result = this.#upgrader.push(value);
    } catch (error) {
      const explained = explainError(error);
      if (!this.#foreign) this.#explain(explained);
      else if (explained.rule === "dialect/mixed") {
        this.#findings.withdraw("dialect/superseded");
        this.#explain(explained);
      }
      this.#foreign ||= explained.rule === "dialect/envelope";
      const { dialect } = this.#upgrader;
      const native = this.#counter.protocolVersion === undefined ? "0.0" : "1.0";
      this.#upgrader = this.#createUpgrader(
        dialect === "0.0" || dialect === "1.0" ? native : dialect,
      );
      this.#lose(type);
      return undefined;
    }
    this.#noteDialect();
    if (!this.#foreign && result.notes.length > 0) {
      const forgiven = (): boolean => isReadable(value);
      for (const note of result.notes) {
        if (this.#dialect !== undefined) {
          this.#report("gateway/repaired", { path: note.path, detail: note.message });
          continue;
        }
        const explained = explainDialect(note, forgiven);
        if (explained !== undefined) this.#explain(explained);
      }
    }
    return result;
  }

  #noteDialect(): void {
    if (this.#foreign) return;
    const { dialect } = this.#upgrader;
    if (dialect !== "0.1.0" && dialect !== "chio") return;
    if (dialect === this.#dialect || (dialect === "0.1.0" && this.#dialect === "auto")) return;
    this.#foreign = true;
    this.#report(dialect === "chio" ? "dialect/envelope" : "dialect/superseded");
  }

  #checkRepaired({ events, notes }: RepairResult): void {
    for (const { rule, message } of notes) {
      const detail = `${message}; repaired by the profile ${profilesOf([rule]).join(" or ")}`;
      this.#report("gateway/repaired", { detail });
    }
    for (const event of events) this.#checkEvent(event, typeOf(event));
  }

  #checkEvent(value: JsonObject, type: string): void {
    const { event, problems, notes } = readEventLeniently(value);
    for (const problem of problems) this.#explain(problem);
    for (const note of notes) {
      const explained = explainNote(note, type);
      if (explained !== undefined && !this.#foreign) this.#explain(explained);
    }
    if (event === undefined) {
      if (problems.length > 0) this.#lose(type);
      return;
    }
    this.#counter.see(event);
    if (event.type === "RUN_STARTED" && this.#blind) this.#regain();
    if (!this.#foreign) this.#order(event);
  }

  #order(event: AgUiEvent): void {
    try {
      for (const expanded of this.#expander.push(event)) {
        const broken = this.#automaton.push(expanded, this.#counter.events);
        for (const { rule, subject } of broken) {
          if (!this.#blind) this.#report(rule, subject === undefined ? {} : { detail: subject });
        }
        this.#symptoms.push(expanded, this.#counter.events);
      }
    } catch (error) {
      this.#explain(explainError(error));
      const active = this.#automaton.runState() === "active";
      this.#regain();
      this.#lose("");
      // The run goes on: its end must still be missed when it does not come.
      if (active) this.#automaton.push({ type: "RUN_STARTED", threadId: "", runId: "" });
    }
  }

  /** Something could not be read; from here to the next run silence is better than a false alarm. */
  #lose(type: string): void {
    if (type === "STATE_SNAPSHOT" || type === "STATE_DELTA" || type === "")
      this.#symptoms.loseState();
    if (LOOSE.has(type)) return;
    this.#blind = true;
    this.#lostAt = this.#counter.events;
  }

  #regain(): void {
    this.#blind = false;
    this.#expander = createChunkExpander();
    this.#automaton = this.#createAutomaton();
  }

  #createAutomaton(): ReturnType<typeof createRunAutomaton> {
    return createRunAutomaton(this.#input === undefined ? {} : { input: this.#input });
  }

  #createUpgrader(dialect: Parameters<typeof createUpgrader>[0]["dialect"]): Upgrader {
    const { threadId, runId } = this.#input ?? {};
    return createUpgrader({
      dialect,
      ...(threadId === undefined ? {} : { threadId }),
      ...(runId === undefined ? {} : { runId }),
      mintId: (kind) => `minted-${kind}-${++this.#minted}`,
    });
  }
}
