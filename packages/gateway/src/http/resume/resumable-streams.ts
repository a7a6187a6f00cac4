import { randomBytes } from "node:crypto";
import type { Signal } from "@countersign/core";
import type { ListenLimits } from "../../base/limits.js";
import type { ReceiptTransport } from "../../event/sink.js";
import { isHolder, readPosition } from "./resume-request.js";
import type { ResumeRequest } from "./resume-request.js";
import type { OpenedRun } from "../../runs/start-run.js";
import { ResumableStream } from "./resumable-stream.js";
import type { StreamHolder, StreamPool } from "./resumable-stream.js";
import type { SharedStreams } from "./shared-streams.js";
import type { StreamCopy } from "./stream-copy.js";

type Limits = Pick<ListenLimits, "reconnectGraceMs" | "reconnectBytes" | "reconnectTotalBytes">;

/** A position in a stream, as its client knows it. */
export type StreamPosition = { readonly stream: ResumableStream; readonly after: number };

/**
 * Streams that may wait for their clients at once. A client that opens and drops streams could otherwise keep any
 * number of agents running during the grace period.
 */
const MAX_WAITING = 1000;
/** Cannot be guessed, so that without access control a stream still belongs to its own client. */
const KEY_BYTES = 16;

/** The resumable streams of a gateway. */
export class ResumableStreams implements StreamPool {
  readonly #streams = new Map<string, ResumableStream>();
  readonly graceMs: number;
  readonly maxBuffered: number;
  readonly #maxTotal: number;
  readonly #shared: SharedStreams | undefined;
  #buffered = 0;
  #waiting = 0;

  /** `shared` lets other gateways resume the streams. */
  constructor(limits: Limits, shared?: SharedStreams) {
    this.graceMs = limits.reconnectGraceMs;
    this.maxBuffered = limits.reconnectBytes;
    this.#maxTotal = limits.reconnectTotalBytes;
    this.#shared = shared;
  }

  /**
   * Creates a stream that outlives its connection; `undefined` where resumption is off or the limit is reached.
   *
   * @throws CountersignError `ERR_STREAM_UNREACHABLE`
   */
  create(
    holder: StreamHolder,
    connection: Signal,
    transport?: ReceiptTransport,
  ): ResumableStream | undefined {
    if (this.graceMs === 0 || this.isFull) return undefined;
    this.#shared?.assertAvailable();
    const key = this.#shared?.createKey() ?? randomBytes(KEY_BYTES).toString("base64url");
    const stream = new ResumableStream(key, holder, this, connection, transport);
    if (!stream.gone.aborted) this.#streams.set(key, stream);
    return stream;
  }

  /**
   * Finds the position to resume from, in a stream that this gateway has, that belongs to the client and is buffered
   * from there on.
   *
   * Only its own principal can resume a stream. A client with a ticket in its URL sends the one that opened the
   * stream: the ticket is used up, but only that client knows an event id. It shows no other credential, so the one
   * behind the ticket must be valid.
   */
  findPosition(request: ResumeRequest): StreamPosition | undefined {
    const position = readPosition(request.lastEventId);
    const { key = "", after = 0 } = position ?? {};
    const stream = this.#streams.get(key);
    if (stream === undefined) return undefined;
    const isTicketValid = (): boolean => stream.holder.grant?.isValid() !== false;
    if (!isHolder(stream.holder, request, isTicketValid)) return undefined;
    if (!stream.canResumeFrom(after)) return undefined;
    if (position?.isRunOver === true && !stream.mayHaveEndedRun(after)) return undefined;
    if (request.isViewer && !stream.hasRoomForViewer) return undefined;
    return request.returnsForever && stream.isAtEnd(after) ? undefined : { stream, after };
  }

  /** Whether this gateway has the stream. */
  has(lastEventId: string): boolean {
    return this.#streams.has(readPosition(lastEventId)?.key ?? "");
  }

  /** Finds a stream of this gateway by its key. */
  get(key: string): ResumableStream | undefined {
    return this.#streams.get(key);
  }

  share(stream: ResumableStream, run: OpenedRun): StreamCopy | undefined {
    const { grant, ...holder } = stream.holder;
    const facts = { holder, grant: grant?.name, transport: stream.transport, run };
    return this.#shared?.share(stream, facts);
  }

  /** Whether a client may still return that does not know how its run ended. */
  get isAwaited(): boolean {
    const now = performance.now();
    return [...this.#streams.values()].some((stream) => stream.mayMissItsEnd(now));
  }

  get isFull(): boolean {
    return this.#buffered >= this.#maxTotal;
  }

  count(bytes: number): void {
    this.#buffered += bytes;
  }

  wait(): boolean {
    if (this.#waiting >= MAX_WAITING) return false;
    this.#waiting += 1;
    return true;
  }

  waited(): void {
    this.#waiting -= 1;
  }

  forget(key: string): void {
    this.#streams.delete(key);
  }
}
