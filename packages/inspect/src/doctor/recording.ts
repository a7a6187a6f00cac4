import { createJsonSequence, isJsonObject, utf8Length } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { RunAgentInput } from "@countersign/wire";
import type { EmitterProfile } from "@countersign/wire/dialects";
import { enforceInput } from "@countersign/wire/enforce";
import { decodeTextFrame } from "@countersign/wire/websocket";
import { createFindings } from "../check/findings.js";
import type { Findings } from "../check/findings.js";
import { createStreamCheck } from "../check/stream-check.js";
import type { SeenEvent, StreamCheck } from "../check/stream-check.js";
import type { StreamSummary } from "../check/summary.js";
import { createSseWatch } from "../framing/sse-watch.js";
import { decodeRecordingLine, textOf } from "../recording/line.js";
import type { RecordingLine } from "../recording/line.js";
import { readLines } from "../recording/read-lines.js";
import type { Layer } from "../rules/rule.js";
import { ByteCounter } from "./bytes.js";
import { checkLayers, verdictOf } from "./report.js";
import type { DoctorReport } from "./report.js";
import type { DoctorOptions } from "./session.js";
import { TimelineRecorder } from "./timeline.js";

/** Options of checking a recording. */
export type RecordingOptions = Pick<DoctorOptions, "severities" | "profile">;

/** The detected format of a recording. */
type Format = "sse" | "jsonl" | "agui.jsonl";

/** Connections checked at once; further ones wait until older ones end. */
const MAX_CONNECTIONS = 256;
const PLAIN_EVENT =
  /^\{"kind":"event","connId":"([^"\\]*)","seq":\d+,"tMs":(\d+(?:\.\d+)?),"event":(?=\{)/;
const SSE_LINE = /^(?:\ufeff)?(?:(?:data|event|id|retry)\s*:|:)/;

/**
 * Checks a recorded stream: `.agui.jsonl`, events as JSON lines, or the body of an SSE response. It is
 * read as it comes and never held whole.
 */
export async function examineRecording(
  target: string,
  source: AsyncIterable<Uint8Array>,
  options: RecordingOptions = {},
): Promise<DoctorReport> {
  const startedAt = new Date();
  const findings = createFindings(options.severities);
  const examiner = new Examiner(findings, options.profile ?? "auto");
  let format: Format | undefined;
  const chunks = peekable(source);
  const first = await chunks.first();
  if (first !== undefined) format = detectFormat(first);
  if (format === "sse") await examiner.sse(chunks);
  else await examiner.lines(chunks);
  examiner.end();
  const list = findings.list();
  const reason = "a recording holds no connection";
  const skippedLayers = new Map<Layer, string>([[1, reason]]);
  if (format !== "sse") skippedLayers.set(2, "a recording of events holds no framing");
  return {
    target,
    startedAt: startedAt.toISOString(),
    durationMs: Date.now() - startedAt.getTime(),
    verdict: verdictOf(list, examiner.events),
    layers: checkLayers(list, 3, skippedLayers),
    findings: list,
    skipped: [
      { what: "network", reason },
      {
        what: "timing (http/buffered, http/burst, http/silence)",
        reason: "arrival times of a recording are not those of this network",
      },
      ...(format === "sse"
        ? []
        : [{ what: "framing", reason: "the frames are not in the recording" }]),
    ],
    exchange: { method: "file", ...(format === undefined ? {} : { encoding: format }) },
    ...(examiner.summary === undefined ? {} : { stream: examiner.summary }),
    timeline: examiner.timeline.timeline(),
    bytes: examiner.ledger.rows({
      input: examiner.inputBytes,
      requestHeaders: 0,
      preflight: 0,
      upgrade: 0,
    }),
  };
}

class Examiner {
  readonly timeline = new TimelineRecorder();
  readonly ledger = new ByteCounter();
  readonly #findings: Findings;
  readonly #profile: EmitterProfile;
  readonly #checks = new Map<string, StreamCheck>();
  readonly #threads = new WeakMap<StreamCheck, string>();
  /** The open interrupts of each thread's last run. */
  readonly #interrupts = new Map<string, readonly string[]>();
  /** Requests whose response has not begun. */
  readonly #asked = new Map<string, JsonValue>();
  readonly #texts = createJsonSequence({ maxBytes: 32 * 1024 * 1024, maxDepth: 80 });
  readonly #events = createJsonSequence();
  #atMs = 0;
  #redacted = false;
  events = 0;
  inputBytes = 0;
  summary: StreamSummary | undefined;

  constructor(findings: Findings, profile: EmitterProfile) {
    this.#findings = findings;
    this.#profile = profile;
  }

  async sse(source: AsyncIterable<Uint8Array>): Promise<void> {
    const watch = createSseWatch({ findings: this.#findings, check: this.#check("") });
    for await (const chunk of source) watch.push(chunk);
    watch.end();
  }

  async lines(source: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const lines of readLines(source)) {
      for (const { text } of lines) {
        if (text === undefined) this.#check("").skip("sse/too-large", 0, true);
        else this.#line(text);
      }
    }
  }

  end(): void {
    // A file without a single event is a stream that ended before any run.
    if (this.#checks.size === 0 && this.summary === undefined) this.#check("");
    for (const connection of this.#checks.keys()) this.#close(connection, true);
    // Masked values cannot be judged.
    if (this.#redacted) {
      this.#findings.withdraw("tool-call/arguments");
      this.#findings.withdraw("state/patch-failed");
    }
  }

  /**
   * A line whose event stands last: the event is read alone, as a text that resembles the one before it,
   * which takes half the time of reading the line. Everything else goes the careful way.
   */
  #plainEvent(text: string): boolean {
    const [start, connId, tMs] = PLAIN_EVENT.exec(text) ?? [];
    if (start === undefined || connId === undefined) return false;
    const json = text.slice(start.length, -1);
    let value: JsonValue;
    try {
      value = this.#events.parse(json);
    } catch {
      return false;
    }
    this.#atMs = Number(tMs);
    this.#check(connId).value(value, utf8Length(json));
    return true;
  }

  #line(text: string): void {
    if (this.#plainEvent(text)) return;
    let value: JsonValue;
    try {
      value = this.#texts.parse(text);
    } catch {
      this.#check("").text(text);
      return;
    }
    const line = decodeRecordingLine(value);
    const input = line === undefined ? requestIn(value) : undefined;
    if (line !== undefined) this.#record(line);
    else if (input !== undefined) this.#request("", input);
    else this.#check("").value(value, Buffer.byteLength(text));
  }

  #record(line: RecordingLine): void {
    switch (line.kind) {
      case "header":
        this.#redacted ||= Array.isArray(line.redacted) && line.redacted.length > 0;
        return;
      case "request":
        this.#request(line.connId, line.input);
        return;
      case "response":
        // A preflight or a refusal is not a stream, so nothing is missing from it.
        if (line.status === 200 && line.contentType.startsWith("text/event-stream")) {
          this.#check(line.connId);
        }
        return;
      case "event":
        this.#atMs = line.tMs;
        if (typeof line.event === "object" && line.event !== null && line.text === undefined) {
          this.#check(line.connId).value(line.event, Buffer.byteLength(textOf(line)));
        } else
          for (const text of decodeTextFrame(textOf(line))) this.#check(line.connId).text(text);
        return;
      case "end":
        this.#close(line.connId, line.reason !== "cut");
        return;
      default:
    }
  }

  /** A request begins a stream of its own. */
  #request(connection: string, input: JsonValue | undefined): void {
    this.#close(connection, true);
    if (this.#asked.size >= MAX_CONNECTIONS) this.#asked.clear();
    if (input !== undefined) this.#asked.set(connection, input);
  }

  #check(connection: string): StreamCheck {
    const known = this.#checks.get(connection);
    if (known !== undefined) return known;
    const input = this.#asked.get(connection);
    this.#asked.delete(connection);
    if (this.#checks.size >= MAX_CONNECTIONS) {
      const [oldest = ""] = this.#checks.keys();
      this.#close(oldest, true);
    }
    const asked = input === undefined ? undefined : readInput(input);
    if (input !== undefined)
      this.inputBytes = Math.max(this.inputBytes, Buffer.byteLength(JSON.stringify(input)));
    const check = createStreamCheck({
      findings: this.#findings,
      profile: this.#profile,
      ...(asked === undefined ? {} : { input: asked }),
      openInterrupts: this.#interrupts.get(asked?.threadId ?? "") ?? [],
      onEvent: (event) => this.#seen(event),
    });
    if (asked !== undefined) this.#threads.set(check, asked.threadId);
    this.#checks.set(connection, check);
    return check;
  }

  #seen(event: SeenEvent): void {
    this.events++;
    this.timeline.add(event, this.#atMs);
    this.ledger.add(event.bytes);
  }

  #close(connection: string, complete: boolean): void {
    const check = this.#checks.get(connection);
    if (check === undefined) return;
    this.#checks.delete(connection);
    check.end();
    if (!complete) {
      this.#findings.withdraw("run/truncated");
      this.#findings.report("http/cut");
    }
    this.summary = merge(this.summary, check.summary());
    const thread = this.#threads.get(check);
    if (thread === undefined) return;
    if (this.#interrupts.size >= MAX_CONNECTIONS) this.#interrupts.clear();
    this.#interrupts.set(thread, check.openInterrupts());
  }
}

function merge(before: StreamSummary | undefined, next: StreamSummary): StreamSummary {
  if (before === undefined) return next;
  const types = { ...before.types };
  for (const [type, count] of Object.entries(next.types)) types[type] = (types[type] ?? 0) + count;
  return {
    ...next,
    ...before,
    events: before.events + next.events,
    runs: before.runs + next.runs,
    bytes: before.bytes + next.bytes,
    features: [...new Set([...before.features, ...next.features])].sort(),
    types,
  };
}

/** The request, if it is of 1.0; another dialect has no comparable ids. */
function readInput(value: JsonValue): RunAgentInput | undefined {
  try {
    return enforceInput(value).input;
  } catch {
    return undefined;
  }
}

function detectFormat(chunk: Uint8Array): Format {
  const start = Buffer.from(chunk.subarray(0, 4096)).toString("utf8").trimStart();
  if (SSE_LINE.test(start)) return "sse";
  return /^\{\s*"kind"\s*:|^\{[^{}]*"kind"\s*:\s*"header"/.test(start) ? "agui.jsonl" : "jsonl";
}

/** The source again, with a look at its first bytes. */
function peekable(
  source: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> & { first(): Promise<Uint8Array | undefined> } {
  const iterator = source[Symbol.asyncIterator]();
  let held: Uint8Array | undefined;
  return {
    async first() {
      const next = await iterator.next();
      held = next.done === true ? undefined : next.value;
      return held;
    },
    async *[Symbol.asyncIterator]() {
      if (held !== undefined) yield held;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        yield next.value;
    },
  };
}

/**
 * The `RunAgentInput` of a line, alone or under `input` or `request`: captures keep requests beside the events.
 * A line with a type is an event: a `RUN_STARTED` may repeat its request under `input`.
 */
function requestIn(value: JsonValue): JsonValue | undefined {
  if (!isJsonObject(value) || value["type"] !== undefined) return undefined;
  return [value, value["input"], value["request"]].find(
    (one) =>
      isJsonObject(one) &&
      one["type"] === undefined &&
      typeof one["threadId"] === "string" &&
      Array.isArray(one["messages"]),
  );
}
