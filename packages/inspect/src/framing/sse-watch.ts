import { parseJson, utf8Length } from "@countersign/core";
import { classifySseData } from "@countersign/wire/sse";
import type { Findings } from "../check/findings.js";
import type { StreamCheck } from "../check/stream-check.js";
import type { RuleId } from "../rules/table.js";
import type { LineEnding } from "./line-splitter.js";
import { LineSplitter } from "./line-splitter.js";

/** The lines, when each of them is a JSON object by itself; otherwise they are pieces of one text. */
export function splitObjects(lines: readonly string[]): readonly string[] | undefined {
  return lines.every(isObjectText) ? lines : undefined;
}

function isObjectText(text: string): boolean {
  if (!text.trimStart().startsWith("{")) return false;
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

/** Options of watching one SSE body. */
export type SseWatchOptions = {
  readonly findings: Findings;
  readonly check: StreamCheck;
  /** The body answers a GET, so an EventSource reads it. */
  readonly get?: boolean;
  /** Bytes of one line; 10 MiB by default. */
  readonly maxLineBytes?: number;
};

/** Judges the framing of a `text/event-stream` body and hands the events on. */
export type SseWatch = {
  push(chunk: Uint8Array): void;
  /** `cut` when the connection broke: a half frame is then no fault of the server's framing. */
  end(cut?: boolean): void;
  /** Comment lines so far. */
  readonly comments: number;
  /** The first characters of the body, to identify one that is not SSE. */
  readonly opening: string;
};

const FILLERS = {
  done: "sse/done-marker",
  empty: "sse/empty-data",
  ping: "sse/ping-object",
} as const;
const OPENING = 64;

/** Creates the watch of one body. */
export function createSseWatch(options: SseWatchOptions): SseWatch {
  return new Watch(options);
}

class Watch implements SseWatch {
  readonly #findings: Findings;
  readonly #check: StreamCheck;
  readonly #get: boolean;
  readonly #lines: LineSplitter;
  #first = true;
  #data: string[] = [];
  #name: string | undefined;
  #extra = false;
  comments = 0;
  opening = "";

  constructor(options: SseWatchOptions) {
    this.#findings = options.findings;
    this.#check = options.check;
    this.#get = options.get === true;
    this.#lines = new LineSplitter(
      {
        line: (text, ending) => this.#line(text, ending),
        invalid: () => this.#findings.report("sse/utf8"),
        tooLong: () => this.#check.skip("sse/too-large", 0, true),
      },
      options.maxLineBytes,
    );
  }

  push(chunk: Uint8Array): void {
    this.#lines.push(chunk);
  }

  end(cut = false): void {
    if (!cut) {
      this.#lines.end();
      if (this.#data.length > 0) this.#findings.report("sse/unterminated");
      this.#dispatch();
    }
    if (this.comments > 0)
      this.#findings.report("sse/heartbeat", { detail: `${this.comments} comments` });
  }

  #line(line: string, ending: LineEnding): void {
    let text = line;
    if (this.#first) {
      this.#first = false;
      if (text.startsWith("\ufeff")) {
        this.#findings.report("sse/byte-order-mark");
        text = text.slice(1);
      }
    }
    if (this.opening.length < OPENING) this.opening = `${this.opening}${text}\n`.slice(0, OPENING);
    if (ending === "cr" || ending === "crlf") this.#carriageReturn(text);
    if (text === "") this.#dispatch();
    else if (text.startsWith("data:")) this.#data.push(valueOf(text, 5));
    else if (text.startsWith(":")) this.comments++;
    else this.#field(text);
  }

  #carriageReturn(text: string): void {
    const isData = text.startsWith("data") || (text === "" && this.#data.length > 0);
    this.#findings.report(isData ? "sse/line-endings" : "sse/comment-line-endings");
  }

  #field(text: string): void {
    const colon = text.indexOf(":");
    const name = colon < 0 ? text : text.slice(0, colon);
    if (name === "data") this.#data.push("");
    else if (name === "event") {
      this.#name = valueOf(text, colon + 1);
      this.#extra = true;
    } else if (name === "id" || name === "retry") this.#extra = true;
    else if (text.startsWith("{")) {
      this.#findings.report("sse/missing-data");
      this.#check.text(text);
    } else this.#findings.report("sse/stray-line");
  }

  #dispatch(): void {
    const lines = this.#data;
    const name = this.#name;
    if (lines.length > 0) {
      this.#data = [];
      if (name === "error" && !lines.join("").includes('"RUN_ERROR"')) {
        this.#check.skip("sse/error-event", utf8Length(lines.join("\n")), true);
      } else this.#take(lines);
    }
    if (this.#extra && lines.length > 0) {
      const unheard = this.#get && name !== undefined && name !== "message";
      this.#findings.report(unheard ? "sse/named-event" : "sse/extra-fields");
    }
    this.#name = undefined;
    this.#extra = false;
  }

  #take(lines: readonly string[]): void {
    const data = lines.length === 1 ? (lines[0] ?? "") : lines.join("\n");
    const kind = classifySseData(data);
    if (kind !== "event") this.#check.skip(FILLERS[kind], utf8Length(data), false);
    else if (lines.length === 1) this.#event(data);
    else {
      const objects = splitObjects(lines);
      this.#findings.report(objects === undefined ? "sse/several-lines" : "sse/several-events");
      for (const text of objects ?? [data]) this.#event(text);
    }
  }

  #event(data: string): void {
    // Some servers report a failure as an object of their own; every AG-UI event names its type.
    const failure: RuleId | undefined = FAILURE.test(data) ? "sse/error-event" : undefined;
    if (failure === undefined) this.#check.text(data);
    else this.#check.skip(failure, utf8Length(data), true);
  }
}

const FAILURE = /^\s*\{\s*"(?:error|detail)"\s*:(?![\s\S]*"type"\s*:\s*"[A-Z_]+")/;

function valueOf(text: string, at: number): string {
  return text.slice(text.charCodeAt(at) === 32 ? at + 1 : at);
}
