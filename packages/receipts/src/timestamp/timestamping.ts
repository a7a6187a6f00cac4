import { isCountersignError } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { decodeAttestations, encodeAttestations } from "../checkpoint/attestations.js";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import type { OpenedCheckpoint } from "../checkpoint/verify-checkpoint.js";
import type { NoteKey } from "../note/vkey.js";
import type { ReceiptStore } from "../store/store.js";
import { requestTimestamp } from "./request-timestamp.js";
import type { TimestampAuthority } from "./request-timestamp.js";
import { verifyTimestamp } from "./verify-timestamp.js";

/** Options of {@link Timestamping}. */
export type TimestampingOptions = {
  readonly store: ReceiptStore;
  /** The key that signs the checkpoints of the log. */
  readonly logKey: NoteKey;
  readonly authority: TimestampAuthority;
  /** Milliseconds between two timestamps. */
  readonly intervalMs: number;
  /** The name of this process among those that share the log. */
  readonly holder: string;
  readonly clock: () => number;
  /** Called when requests begin to fail, fail for another reason, or succeed again. */
  readonly onReport?: (reason: string | undefined) => void;
};

/** The newest checkpoint with a timestamp. */
export type TimestampedCheckpoint = {
  readonly size: number;
  /** Milliseconds since the epoch, by the clock of the authority. */
  readonly time: number;
  readonly authority: string;
};

/** Milliseconds until a failed request is made again, at most. */
const RETRY_MS = 60_000;

/** Obtains timestamps of the newest checkpoint while the log grows, and stores them with the log. */
export class Timestamping {
  readonly #options: TimestampingOptions;
  readonly #aborted = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #newest: TimestampedCheckpoint | undefined;
  #failures = 0;
  #failing: string | undefined;

  constructor(options: TimestampingOptions) {
    this.#options = options;
  }

  start(): void {
    const look = (): void => void this.run();
    this.#timer = setInterval(look, Math.min(RETRY_MS, this.#options.intervalMs)).unref();
    look();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#aborted.abort();
    await this.#round;
  }

  get newest(): TimestampedCheckpoint | undefined {
    return this.#newest;
  }

  get failures(): number {
    return this.#failures;
  }

  /** Why the last request failed; absent after a success. */
  get failing(): string | undefined {
    return this.#failing;
  }

  /** One request, when one is due; at most one is under way. Never rejects. */
  run(): Promise<void> {
    if (this.#aborted.signal.aborted) return Promise.resolve();
    this.#round ??= this.#runRound()
      .then(
        () => this.#report(undefined),
        (error: unknown) => {
          if (this.#aborted.signal.aborted) return;
          this.#failures += 1;
          this.#report(isCountersignError(error) ? error.message : (error as Error).name);
        },
      )
      .finally(() => {
        this.#round = undefined;
      });
    return this.#round;
  }

  async #runRound(): Promise<void> {
    const { store, clock, holder, intervalMs, authority } = this.#options;
    await this.#load();
    const leaseMs = Math.min(RETRY_MS, intervalMs) + authority.timeoutMs + 5_000;
    if (!(await store.leaseAttesting(holder, leaseMs))) return;
    if (this.#newest !== undefined && clock() - this.#newest.time < intervalMs) return;
    const text = await store.readCheckpoint();
    const checkpoint = text === undefined ? undefined : await this.#open(text);
    if (text === undefined || checkpoint === undefined || checkpoint.size === 0) return;
    if (checkpoint.size === this.#newest?.size) return;
    const { note, size } = checkpoint;
    const found = await requestTimestamp(authority, note.text, this.#aborted.signal);
    const { response, timestamp } = found;
    await store.updateAttestations(async (record) => {
      const stored = decodeAttestations(record);
      const before = stored.timestamped && (await this.#open(stored.timestamped.checkpoint));
      if (before !== undefined && before.size > size) return undefined;
      return encodeAttestations({ ...stored, timestamped: { checkpoint: text, response } });
    });
    this.#newest = { size, time: timestamp.time, authority: timestamp.authority };
  }

  /** Reads what this or another gateway stored. */
  async #load(): Promise<void> {
    const { store, authority } = this.#options;
    const { timestamped } = decodeAttestations(await store.readAttestations());
    if (timestamped === undefined) return;
    try {
      const opened = await this.#open(timestamped.checkpoint);
      if (opened === undefined) return;
      const { response } = timestamped;
      const found = await verifyTimestamp(response, opened.note.text, authority.anchors);
      this.#newest = { size: opened.size, time: found.time, authority: found.authority };
    } catch (error) {
      // A timestamp that does not hold is replaced by the next one.
      if (!isCountersignError(error)) throw error;
    }
  }

  async #open(text: string): Promise<OpenedCheckpoint | undefined> {
    try {
      return await openCheckpoint(text, [this.#options.logKey], verifyEd25519);
    } catch (error) {
      if (!isCountersignError(error)) throw error;
      return undefined;
    }
  }

  #report(reason: string | undefined): void {
    if (this.#failing === reason) return;
    this.#failing = reason;
    this.#options.onReport?.(reason);
  }
}
