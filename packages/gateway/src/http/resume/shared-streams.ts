import type { Signal } from "@countersign/core";
import type { OpenedRun } from "../../runs/start-run.js";
import type { ResumableStream } from "./resumable-stream.js";
import type { StreamCopy } from "./stream-copy.js";
import type { ResumeRequest, SharedFacts } from "./resume-request.js";
import type { StreamReader } from "./stream-reader.js";

/** A stream of another gateway that a client may resume here. */
export type SharedStream = {
  readonly key: string;
  readonly sessionId: string;
  readonly run: OpenedRun;
  /** Sends the events after the position to the reader, until the stream or the connection ends. */
  follow(reader: StreamReader, connection: Signal): void;
};

/** Streams that every gateway of a log can resume. The implementation is in `cluster`. */
export type SharedStreams = {
  /** Creates the key of a new stream, which only a gateway of the log can create. */
  createKey(): string;
  /**
   * Throws where a stream that other gateways cannot resume must not be opened.
   *
   * @throws CountersignError `ERR_STREAM_UNREACHABLE`
   */
  assertAvailable(): void;
  /** Copies a stream of this gateway from now on. */
  share(stream: ResumableStream, facts: SharedFacts): StreamCopy;
  /**
   * Finds a stream of another gateway that belongs to the client.
   *
   * @throws CountersignError `ERR_STREAM_UNREACHABLE`, `ERR_STREAM_LIMIT`
   */
  find(request: ResumeRequest): Promise<SharedStream | undefined>;
  /** Closes the connections that read streams of other gateways. */
  leave(): void;
  /** Stores the ends of this gateway's streams. */
  close(): Promise<void>;
};
