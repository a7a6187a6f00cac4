import type { Writable } from "node:stream";
import { parseJson } from "@countersign/core";
import { encodeRecordingLine, frameMembers, textMembers } from "../recording/line.js";
import type { HeaderLine, RecordingLine } from "../recording/line.js";
import { redactLine } from "../recording/redact.js";
import type { RedactionGroup } from "../recording/redact.js";

/** Options of a recorder. */
export type RecorderOptions = {
  readonly output: Writable;
  readonly target: string;
  readonly transport: HeaderLine["transport"];
  readonly redact?: readonly RedactionGroup[];
  /** Called after each line, for progress. */
  readonly onLine?: (line: RecordingLine) => void;
};

/** Writes a recording line by line, as things pass. Headers are never recorded: they hold tokens. */
export class Recorder {
  readonly #output: Writable;
  readonly #groups: ReadonlySet<RedactionGroup>;
  readonly #onLine: ((line: RecordingLine) => void) | undefined;
  #connections = 0;
  #seq = 0;

  constructor(options: RecorderOptions) {
    this.#output = options.output;
    this.#groups = new Set(options.redact);
    this.#onLine = options.onLine;
    this.#write({
      kind: "header",
      schemaVersion: 1,
      tool: "countersign",
      capturedAt: new Date().toISOString(),
      url: options.target,
      transport: options.transport,
      redacted: [...this.#groups],
    });
  }

  /** Begins a connection, whose times count from now. */
  connection(method: string, url: string): ConnectionRecorder {
    const connId = `c${++this.#connections}`;
    const began = performance.now();
    const now = (): number => Math.round((performance.now() - began) * 10) / 10;
    return {
      request: (body) =>
        this.#write({
          kind: "request",
          connId,
          tMs: now(),
          method,
          url,
          ...(body === "" ? {} : { input: inputOf(body) }),
        }),
      response: (status, contentType) =>
        this.#write({
          kind: "response",
          connId,
          seq: ++this.#seq,
          tMs: now(),
          status,
          contentType,
        }),
      event: (text, fields = {}) =>
        this.#write({
          kind: "event",
          connId,
          seq: ++this.#seq,
          tMs: now(),
          ...textMembers(text),
          ...fields,
        }),
      frame: (text) =>
        this.#write({ kind: "event", connId, seq: ++this.#seq, tMs: now(), ...frameMembers(text) }),
      comment: (text) =>
        this.#write({ kind: "comment", connId, seq: ++this.#seq, tMs: now(), text }),
      end: (reason, closeCode) =>
        this.#write({
          kind: "end",
          connId,
          seq: ++this.#seq,
          tMs: now(),
          reason,
          ...(closeCode === undefined ? {} : { closeCode }),
        }),
    };
  }

  #write(line: RecordingLine): void {
    const written = redactLine(line, this.#groups);
    this.#output.write(encodeRecordingLine(written));
    this.#onLine?.(written);
  }
}

/** Records one connection. */
export type ConnectionRecorder = {
  request(body: string): void;
  response(status: number, contentType: string): void;
  event(text: string, fields?: { sseEvent?: string; sseId?: string }): void;
  /** A WebSocket frame. */
  frame(text: string): void;
  comment(text: string): void;
  end(reason: "complete" | "cut", closeCode?: number): void;
};

function inputOf(body: string): ReturnType<typeof parseJson> {
  try {
    return parseJson(body);
  } catch {
    return body;
  }
}
