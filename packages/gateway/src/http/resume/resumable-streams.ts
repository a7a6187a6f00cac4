import { randomBytes } from "node:crypto";
import type { ListenLimits } from "../../base/limits.js";
import type { Signal } from "../../base/signal.js";
import { readPlace } from "./resume-request.js";
import type { ResumeRequest } from "./resume-request.js";
import { ResumableStream } from "./resumable-stream.js";
import type { StreamHolder, StreamKeeper } from "./resumable-stream.js";

type Limits = Pick<ListenLimits, "reconnectGraceMs" | "reconnectBytes" | "reconnectTotalBytes">;

/** A place in a stream, as its client knows it. */
export type StreamPlace = { readonly stream: ResumableStream; readonly after: number };

/**
 * Streams that may wait for their clients at once. Whoever opens streams and drops them would otherwise have as many
 * agents talk to nobody as fit into the time of grace.
 */
const MAX_WAITING = 1000;
/** Nobody guesses it, so that in a gateway without access control a stream is still its own client's. */
const KEY_BYTES = 16;

/** The streams of a gateway that can be taken up. */
export class ResumableStreams implements StreamKeeper {
  readonly #streams = new Map<string, ResumableStream>();
  readonly graceMs: number;
  readonly maxKept: number;
  readonly #maxTotal: number;
  readonly #createKey: () => string;
  #kept = 0;
  #waiting = 0;

  /** `createKey` names a stream where others must be able to tell whose it is. */
  constructor(limits: Limits, createKey: () => string = createRandomKey) {
    this.graceMs = limits.reconnectGraceMs;
    this.maxKept = limits.reconnectBytes;
    this.#maxTotal = limits.reconnectTotalBytes;
    this.#createKey = createKey;
  }

  /** A stream that outlives its connection; undefined where none may. */
  create(holder: StreamHolder, connection: Signal): ResumableStream | undefined {
    if (this.graceMs === 0 || this.isFull) return undefined;
    const key = this.#createKey();
    const stream = new ResumableStream(key, holder, this, connection);
    if (!stream.gone.aborted) this.#streams.set(key, stream);
    return stream;
  }

  /**
   * Where somebody goes on: in a stream that is known here, theirs, and kept from there on.
   *
   * Only its own principal gets it. Who comes from an address with a ticket shows the one that opened it: that is
   * used up, but the number of an event is known to nobody else.
   */
  placeFor({ lastEventId, agent, holder, returnsForever }: ResumeRequest): StreamPlace | undefined {
    const { key = "", after = 0 } = readPlace(lastEventId) ?? {};
    const stream = this.#streams.get(key);
    if (stream === undefined || stream.holder.agent !== agent) return undefined;
    const isHolder =
      "ticket" in holder
        ? stream.holder.ticket === holder.ticket
        : stream.holder.principal === holder.principal;
    if (!isHolder || !stream.canGoOn(after)) return undefined;
    return returnsForever && stream.isTold(after) ? undefined : { stream, after };
  }

  /** Whether a client is still expected that was not told how its run ended. */
  get isAwaited(): boolean {
    const now = performance.now();
    return [...this.#streams.values()].some((stream) => stream.isAwaited(now));
  }

  get isFull(): boolean {
    return this.#kept >= this.#maxTotal;
  }

  count(characters: number): void {
    this.#kept += characters;
  }

  wait(): boolean {
    if (this.#waiting >= MAX_WAITING) return false;
    this.#waiting += 1;
    return true;
  }

  found(): void {
    this.#waiting -= 1;
  }

  forget(key: string): void {
    this.#streams.delete(key);
  }
}

function createRandomKey(): string {
  return randomBytes(KEY_BYTES).toString("base64url");
}
