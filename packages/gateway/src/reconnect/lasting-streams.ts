import { randomBytes } from "node:crypto";
import type { ListenLimits } from "../listen/limits.js";
import type { Signal } from "../signal.js";
import { LastingStream } from "./lasting-stream.js";
import type { StreamHolder, StreamKeeper } from "./lasting-stream.js";

type Limits = Pick<ListenLimits, "reconnectGraceMs" | "reconnectBytes" | "reconnectTotalBytes">;

/** A place in a stream, as its client knows it. */
export type StreamPlace = { readonly stream: LastingStream; readonly after: number };

/**
 * Streams that may wait for their clients at once. Whoever opens streams and drops them would otherwise have as many
 * agents talk to nobody as fit into the time of grace.
 */
const MAX_WAITING = 1000;
/** Nobody guesses it, so that in a gateway without access control a stream is still its own client's. */
const KEY_BYTES = 16;
const PLACE = /^([\w-]{22})\.(\d{1,15})$/u;

/** The streams of a gateway that can be taken up. */
export class LastingStreams implements StreamKeeper {
  readonly #streams = new Map<string, LastingStream>();
  readonly graceMs: number;
  readonly maxKept: number;
  readonly #maxTotal: number;
  #kept = 0;
  #waiting = 0;

  constructor(limits: Limits) {
    this.graceMs = limits.reconnectGraceMs;
    this.maxKept = limits.reconnectBytes;
    this.#maxTotal = limits.reconnectTotalBytes;
  }

  /** A stream that outlives its connection; undefined where none may. */
  create(holder: StreamHolder, connection: Signal): LastingStream | undefined {
    if (this.graceMs === 0 || this.isFull) return undefined;
    const key = randomBytes(KEY_BYTES).toString("base64url");
    const stream = new LastingStream(key, holder, this, connection);
    if (!stream.gone.aborted) this.#streams.set(key, stream);
    return stream;
  }

  /** The place that a `Last-Event-ID` names, while its stream is known here. */
  find(lastEventId: string): StreamPlace | undefined {
    const [, key = "", after = ""] = PLACE.exec(lastEventId) ?? [];
    const stream = this.#streams.get(key);
    return stream && { stream, after: Number(after) };
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
