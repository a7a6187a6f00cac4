import type { Signal } from "@countersign/core";
import { parseJson } from "@countersign/core";
import { encodeProto } from "@countersign/wire/proto";
import type { AgUiEvent } from "@countersign/wire";
import { SESSION_HEADER } from "../../agent/upstream.js";
import type { HttpResponse } from "../exchange.js";
import { createHttpSink } from "../http-sink.js";
import type { HttpEncoding, HttpSink } from "../http-sink.js";
import { writePosition } from "./resume-request.js";

/** One connection that reads a resumable stream: a client's, or another gateway's on its behalf. */
export type StreamReader = {
  /** Whether the connection is behind; what it has not got waits in the buffer of the stream. */
  readonly isSlow: boolean;
  /** The last event that the client has, if that is not the last one that was written. */
  readonly confirmed?: number;
  /** Tells the client from which event it reads. */
  begin(after: number): void;
  /** Writes events in order; the first one has this number. */
  write(first: number, texts: readonly string[]): void;
  /** Resolves when the connection is no longer behind, or is closed. */
  drained(): Promise<void>;
  heartbeat(): void;
  end(): void;
  hangUp(): void;
};

/**
 * The header with the key of a stream in protobuf, whose frames have no ids: the client counts the events and resumes
 * with `KEY.COUNT`.
 */
const STREAM_HEADER = "countersign-stream";

/** Reads a stream over HTTP, as SSE or protobuf. */
export function createHttpReader(
  response: HttpResponse,
  encoding: HttpEncoding,
  gone: Signal,
  { key, sessionId }: { readonly key: string; readonly sessionId: string },
): StreamReader {
  const headers = { [SESSION_HEADER]: sessionId };
  if (encoding === "sse") {
    return new HttpReader(createHttpSink(response, "sse", gone, headers), key, gone);
  }
  const named = { ...headers, [STREAM_HEADER]: key };
  return new ProtoReader(createHttpSink(response, "proto", gone, named), key, gone);
}

class HttpReader implements StreamReader {
  readonly sink: HttpSink;
  readonly #key: string;
  readonly #gone: Signal;

  constructor(sink: HttpSink, key: string, gone: Signal) {
    this.sink = sink;
    this.#key = key;
    this.#gone = gone;
  }

  get isSlow(): boolean {
    return this.sink.isSlow;
  }

  begin(after: number): void {
    this.sink.write(`id: ${writePosition(this.#key, after)}\n\n`);
  }

  write(first: number, texts: readonly string[]): void {
    if (this.#gone.aborted) return;
    let frames = "";
    for (let index = 0; index < texts.length; index += 1) {
      const text = texts[index] as string;
      frames += `id: ${writePosition(this.#key, first + index, isRunEnd(text))}\ndata: ${text}\n\n`;
    }
    this.sink.write(frames);
  }

  drained(): Promise<void> {
    return this.sink.drained();
  }

  heartbeat(): void {
    this.sink.heartbeat();
  }

  end(): void {
    this.sink.end();
  }

  hangUp(): void {
    this.sink.hangUp();
  }
}

class ProtoReader extends HttpReader {
  override begin(): void {}

  override write(_first: number, texts: readonly string[]): void {
    this.sink.write(
      Buffer.concat(texts.map((text) => encodeProto(parseJson(text) as unknown as AgUiEvent))),
    );
  }
}

/** Whether nothing but another run can follow this event. */
export function isRunEnd(text: string): boolean {
  if (!text.includes('"RUN_FINISHED"') && !text.includes('"RUN_ERROR"')) return false;
  const { type } = parseJson(text) as { type?: unknown };
  return type === "RUN_FINISHED" || type === "RUN_ERROR";
}
