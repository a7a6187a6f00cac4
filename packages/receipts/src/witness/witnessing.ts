import { CountersignError, equalBytes, isCountersignError } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { decodeAttestations, encodeAttestations } from "../checkpoint/attestations.js";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import type { OpenedCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { storedRoot } from "../log/checkpoints.js";
import { proveGrowth } from "../log/prove-entry.js";
import type { Cosignature } from "../note/verify-note.js";
import type { NoteKey } from "../note/vkey.js";
import { encodeVkey, sameNoteKey } from "../note/vkey.js";
import type { ReceiptStore } from "../store/store.js";
import { countWitnesses } from "../verify/witnesses.js";
import { readNewest, submitCheckpoint, withCosignatures } from "./witness-client.js";
import type { WitnessAddress } from "./witness-client.js";
import "./errors.js";

/** Options of {@link Witnessing}. */
export type WitnessingOptions = {
  readonly store: ReceiptStore;
  /** The key that signs the checkpoints of the log; its name is the origin. */
  readonly logKey: NoteKey;
  readonly witnesses: readonly WitnessAddress[];
  /** Different witnesses that must cosign a checkpoint for it to count as witnessed. */
  readonly threshold: number;
  /** Milliseconds between two rounds. */
  readonly intervalMs: number;
  /** Milliseconds that a witness may take to respond. */
  readonly timeoutMs: number;
  /** The name of this process among those that share the log. */
  readonly holder: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly onReport?: (report: WitnessReport) => void;
};

/** A change that the operator should know about; reported once, not per round. */
export type WitnessReport =
  | { readonly kind: "failing"; readonly witness: string; readonly reason: string }
  | { readonly kind: "recovered"; readonly witness: string }
  /** A witness knows a log that this store does not hold; `isProven` when the log's key signed it. */
  | { readonly kind: "changed"; readonly witness: string; readonly claim: Claim }
  /** A witness cosigned a larger size before: it lost its state, or was restored from a backup. */
  | { readonly kind: "forgetful"; readonly witness: string; readonly size: number }
  | { readonly kind: "unsaved"; readonly reason: string };

/** Claim of a witness about a tree that contradicts the store. */
export type Claim = {
  readonly size: number;
  readonly isProven: boolean;
  /** The checkpoint that proves it, signed by the log's own key. */
  readonly checkpoint?: string;
};

/** A checkpoint with its cosignatures. */
export type WitnessedCheckpoint = {
  readonly size: number;
  /** POSIX seconds: by then enough witnesses had cosigned. */
  readonly time: number;
  /** Names of the witnesses. */
  readonly names: readonly string[];
  /** Enough of them. */
  readonly isEnough: boolean;
  readonly text: string;
};

/** The state of one witness. */
export type WitnessStatus = {
  readonly name: string;
  readonly vkey: string;
  readonly submissions: number;
  readonly failures: number;
  /** Why the last submission failed; absent after a success. */
  readonly failing?: string;
  readonly size?: number;
  /** POSIX seconds of its last cosignature. */
  readonly time?: number;
  readonly claim?: Claim;
};

type OwnWitness = {
  readonly address: WitnessAddress;
  /** The size that it cosigned last, as far as known. */
  known: number;
  /** Its last cosignature that this process received. */
  cosigned: { size: number; time: number } | undefined;
  submissions: number;
  failures: number;
  /** Failures in a row. */
  streak: number;
  failing: string | undefined;
  claim: Claim | undefined;
  notBefore: number;
};

const MAX_BACKOFF_MS = 120_000;
/** A log that does not grow is cosigned again, so that the age of its newest cosignature is bounded. */
const REFRESH_MS = 3_600_000;
/** The first request names a size, the second one the size of the 409 response. */
const ATTEMPTS = 2;
const START_TIMEOUT_MS = 5_000;

/** Obtains cosignatures of the newest checkpoint, on its own timer, and stores them with the log. */
export class Witnessing {
  readonly #options: WitnessingOptions;
  readonly #witnesses: readonly OwnWitness[];
  readonly #aborted = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;
  #witnessed: WitnessedCheckpoint | undefined;
  /** The first entry that no witnessed checkpoint covers was appended then, or later. */
  #uncoveredSince: number | undefined;
  /** Cosignatures of the newest checkpoint, also while they are too few to replace a stored one. */
  #collected: { checkpoint: OpenedCheckpoint; cosignatures: Cosignature[] } | undefined;
  #unsaved: string | undefined;

  constructor(options: WitnessingOptions) {
    this.#options = options;
    this.#witnesses = options.witnesses.map((address) => ({
      address,
      known: 0,
      cosigned: undefined,
      submissions: 0,
      failures: 0,
      streak: 0,
      failing: undefined,
      claim: undefined,
      notBefore: 0,
    }));
  }

  /** Reads what earlier rounds stored. */
  async load(): Promise<void> {
    const { witnessed } = decodeAttestations(await this.#options.store.readAttestations());
    const opened = await this.#open(witnessed);
    if (opened === undefined || witnessed === undefined) return;
    this.#note(opened, witnessed);
    for (const { key, time } of opened.note.cosignatures) {
      const own = this.#witnesses.find(({ address }) => sameNoteKey(address.key, key));
      if (own === undefined || opened.size < (own.cosigned?.size ?? 0)) continue;
      own.known = opened.size;
      own.cosigned = { size: opened.size, time: Number(time) };
    }
  }

  /** Starts the rounds. */
  start(): void {
    const look = (): void => void this.run();
    this.#timer = setInterval(look, this.#options.intervalMs).unref();
    look();
  }

  /** One last round for what no witness has cosigned yet, within a limit of time. */
  async finish(limitMs: number): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
    if (this.uncoveredMs > 0) {
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, limitMs);
      });
      await Promise.race([this.run(), limit]);
      clearTimeout(timer);
    }
    await this.close();
  }

  /** Asks no more; waits for requests that are under way, which end at once. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#aborted.abort();
    await this.#round;
  }

  /** One round; at most one is under way. Never rejects. */
  run(): Promise<void> {
    if (this.#aborted.signal.aborted) return Promise.resolve();
    this.#round ??= this.#runRound()
      .then(
        () => {
          this.#unsaved = undefined;
        },
        (error: unknown) => this.#reportStore(error),
      )
      .finally(() => {
        this.#round = undefined;
      });
    return this.#round;
  }

  /** The newest witnessed checkpoint; one with too few cosignatures only while there is no other. */
  get witnessed(): WitnessedCheckpoint | undefined {
    return this.#witnessed;
  }

  /** Records that the log grows. */
  noteAppend(): void {
    this.#uncoveredSince ??= this.#options.clock();
  }

  /** Milliseconds for which the log has had entries that no witnessed checkpoint covers. */
  get uncoveredMs(): number {
    if (this.#uncoveredSince === undefined) return 0;
    return Math.max(0, this.#options.clock() - this.#uncoveredSince);
  }

  get threshold(): number {
    return this.#options.threshold;
  }

  status(): WitnessStatus[] {
    return this.#witnesses.map(({ address, submissions, failures, failing, cosigned, claim }) => ({
      name: address.key.name,
      vkey: encodeVkey(address.key),
      submissions,
      failures,
      ...(failing === undefined ? {} : { failing }),
      ...cosigned,
      ...(claim === undefined ? {} : { claim }),
    }));
  }

  /**
   * Asks every witness for its newest checkpoint of the log, before the gateway signs anything.
   *
   * @throws CountersignError `ERR_WITNESS_LOG_CHANGED` when one shows a checkpoint that the log's
   *   own key signed and this store does not hold, or when as many as the threshold say so
   */
  async assertUnchanged(): Promise<void> {
    const timeoutMs = Math.min(this.#options.timeoutMs, START_TIMEOUT_MS);
    await Promise.all(this.#witnesses.map((own) => this.#examine(own, timeoutMs)));
    const claims = this.#witnesses.filter(({ claim }) => claim !== undefined);
    const proven = claims.find(({ claim }) => claim?.isProven === true);
    const believed = proven ?? (claims.length >= this.#options.threshold ? claims[0] : undefined);
    if (believed?.claim === undefined) return;
    const { name } = believed.address.key;
    const { size } = believed.claim;
    throw new CountersignError(
      "ERR_WITNESS_LOG_CHANGED",
      `the witness ${name} has cosigned ${size} entries of this log, and the store does not hold them: the log was rolled back or replaced. Fix: restore the store and the key directory from their newest copy; to go on without the lost entries, start a new log (receipts.origin, receipts.store, keys.directory)`,
      { witness: name, size },
    );
  }

  /** Compares the store with the newest checkpoint that a witness shows, or with its 409 response. */
  async #examine(own: OwnWitness, timeoutMs: number): Promise<void> {
    const { store, logKey, clock } = this.#options;
    // One limit for both requests: a start waits for it.
    const signal = AbortSignal.any([this.#aborted.signal, AbortSignal.timeout(timeoutMs)]);
    const limits = { timeoutMs, signal, now: clock() };
    const newest = await readNewest(own.address.url, [logKey], limits);
    if ("checkpoint" in newest) {
      const { size } = newest.checkpoint;
      const isHeld = await this.#holds(newest.checkpoint);
      own.known = isHeld ? size : own.known;
      if (!isHeld) this.#claim(own, { size, isProven: true, checkpoint: newest.text });
      return;
    }
    // It has no such path, or never saw the log: a conflict tells its size.
    const checkpoint = await store.readCheckpoint();
    if (checkpoint === undefined) return;
    const opened = await this.#open(checkpoint);
    if (opened === undefined) return;
    const { url, key } = own.address;
    const request = { old: opened.size, proof: [], checkpoint };
    const result = await submitCheckpoint({ url, key }, request, limits);
    if (result.kind !== "conflict") return;
    const { size } = await store.head();
    if (result.size > size) this.#claim(own, { size: result.size, isProven: false });
  }

  async #holds({ size, root }: OpenedCheckpoint): Promise<boolean> {
    const { store } = this.#options;
    if (size > (await store.head()).size) return false;
    return equalBytes(await storedRoot(store, size), root);
  }

  async #runRound(): Promise<void> {
    const { store, clock, holder, intervalMs, timeoutMs } = this.#options;
    const startedAt = clock();
    const leaseMs = intervalMs + ATTEMPTS * 2 * timeoutMs + 5_000;
    if (await store.leaseAttesting(holder, leaseMs)) await this.#submitToAll();
    await this.load();
    const { size } = await store.head();
    const covered = this.#witnessed?.isEnough === true ? this.#witnessed.size : -1;
    if (size <= covered || size === 0) this.#uncoveredSince = undefined;
    else if (this.#witnessed?.isEnough === true && this.#uncoveredSince !== undefined) {
      // This checkpoint covers all entries that were appended before it.
      const since = Math.min(startedAt, this.#witnessed.time * 1000);
      this.#uncoveredSince = Math.max(this.#uncoveredSince, since);
    } else this.#uncoveredSince ??= startedAt;
  }

  /** Submits the newest checkpoint to every witness that is due, and stores what they signed. */
  async #submitToAll(): Promise<void> {
    const { store, clock } = this.#options;
    const text = await store.readCheckpoint();
    const checkpoint = await this.#open(text);
    if (checkpoint === undefined || text === undefined || checkpoint.size === 0) return;
    if (this.#collected?.checkpoint.note.text !== checkpoint.note.text) {
      this.#collected = { checkpoint, cosignatures: [] };
    }
    const now = clock();
    const due = this.#witnesses.filter(({ cosigned, notBefore }) => {
      if (now < notBefore) return false;
      return cosigned?.size !== checkpoint.size || now - cosigned.time * 1000 >= REFRESH_MS;
    });
    const { cosignatures } = this.#collected;
    for (const own of await Promise.all(
      due.map(async (one) => this.#submit(one, checkpoint, text)),
    )) {
      if (own !== undefined) cosignatures.push(own);
    }
    if (cosignatures.length > 0) await this.#store(checkpoint, text, cosignatures);
  }

  async #submit(
    own: OwnWitness,
    { size }: OpenedCheckpoint,
    text: string,
  ): Promise<Cosignature | undefined> {
    const { store, timeoutMs, clock } = this.#options;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const old = Math.min(own.known, size);
      const proof = old === 0 || old === size ? [] : await proveGrowth(store, old, size);
      own.submissions += 1;
      const limits = { timeoutMs, signal: this.#aborted.signal, now: clock() };
      const result = await submitCheckpoint(own.address, { old, proof, checkpoint: text }, limits);
      if (this.#aborted.signal.aborted) return undefined;
      if (result.kind === "cosigned") {
        const { cosignature } = result;
        own.known = size;
        own.cosigned = { size, time: Number(cosignature.time) };
        this.#succeeded(own);
        return cosignature;
      }
      if (result.kind === "refused") {
        if (result.status === 422) await this.#examine(own, timeoutMs);
        return this.#failed(own, result.reason);
      }
      if (result.size > size) {
        own.known = result.size;
        // Another gateway of this log may have submitted a newer checkpoint meanwhile.
        if (result.size <= (await store.head()).size) return undefined;
        await this.#examine(own, timeoutMs);
        this.#claim(own, { size: result.size, isProven: false });
        return this.#failed(own, `it has cosigned ${result.size} entries, more than the log has`);
      }
      // The same size with another root is the only conflict that names the size of the request.
      if (result.size === old && old < size) break;
      if (result.size === old) {
        await this.#examine(own, timeoutMs);
        this.#claim(own, { size, isProven: false });
        return this.#failed(own, `it has cosigned another tree of ${size} entries`);
      }
      if (own.cosigned !== undefined && result.size < own.cosigned.size) this.#forgot(own, result);
      own.known = result.size;
    }
    return this.#failed(own, "its sizes contradict each other");
  }

  /** Adds cosignatures to the stored checkpoint of the same tree, or replaces an older one. */
  async #store(
    checkpoint: OpenedCheckpoint,
    text: string,
    cosignatures: readonly Cosignature[],
  ): Promise<void> {
    await this.#options.store.updateAttestations(async (record) => {
      const stored = decodeAttestations(record);
      const before = await this.#open(stored.witnessed);
      if (before !== undefined && before.size > checkpoint.size) return undefined;
      const isSame = before?.note.text === checkpoint.note.text;
      const all = isSame ? [...before.note.cosignatures, ...cosignatures] : cosignatures;
      const witnessed = withCosignatures(text, newestPerKey(all));
      const isEnough = this.#count(await this.#open(witnessed)) >= this.#options.threshold;
      // A witnessed checkpoint stays until a newer one has enough cosignatures, too.
      if (!isSame && !isEnough && this.#count(before) >= this.#options.threshold) return undefined;
      return encodeAttestations({ ...stored, witnessed });
    });
  }

  /** A checkpoint that the log signed, with the valid cosignatures of the configured witnesses. */
  async #open(text: string | undefined): Promise<OpenedCheckpoint | undefined> {
    if (text === undefined) return undefined;
    const keys = [this.#options.logKey, ...this.#witnesses.map(({ address }) => address.key)];
    try {
      return await openCheckpoint(text, keys, verifyEd25519);
    } catch (error) {
      if (!isCountersignError(error)) throw error;
      return undefined;
    }
  }

  #count(checkpoint: OpenedCheckpoint | undefined): number {
    if (checkpoint === undefined) return 0;
    return countWitnesses(checkpoint, { now: this.#options.clock() }).cosignatures.length;
  }

  #note(checkpoint: OpenedCheckpoint, text: string): void {
    const { cosignatures } = countWitnesses(checkpoint, { now: this.#options.clock() });
    const times = cosignatures.map(({ time }) => Number(time)).sort((one, other) => one - other);
    const isEnough = cosignatures.length >= this.#options.threshold;
    this.#witnessed = {
      size: checkpoint.size,
      time: times[isEnough ? this.#options.threshold - 1 : times.length - 1] ?? 0,
      names: cosignatures.map(({ key }) => key.name),
      isEnough,
      text,
    };
  }

  #succeeded(own: OwnWitness): void {
    own.streak = 0;
    own.notBefore = 0;
    if (own.claim?.isProven === false) own.claim = undefined;
    if (own.failing === undefined) return;
    own.failing = undefined;
    this.#options.onReport?.({ kind: "recovered", witness: own.address.key.name });
  }

  #failed(own: OwnWitness, reason: string): undefined {
    const { intervalMs, clock, onReport } = this.#options;
    own.failures += 1;
    own.notBefore = clock() + Math.min(MAX_BACKOFF_MS, intervalMs * 2 ** own.streak);
    own.streak += 1;
    if (own.failing === reason) return;
    own.failing = reason;
    onReport?.({ kind: "failing", witness: own.address.key.name, reason });
  }

  #claim(own: OwnWitness, claim: Claim): void {
    if (own.claim?.isProven === true || (own.claim !== undefined && !claim.isProven)) return;
    own.claim = claim;
    this.#options.onReport?.({ kind: "changed", witness: own.address.key.name, claim });
  }

  #forgot(own: OwnWitness, { size }: { readonly size: number }): void {
    own.cosigned = undefined;
    this.#options.onReport?.({ kind: "forgetful", witness: own.address.key.name, size });
  }

  #reportStore(error: unknown): void {
    const reason = isCountersignError(error) ? error.code : (error as Error).name;
    if (this.#unsaved === reason) return;
    this.#unsaved = reason;
    this.#options.onReport?.({ kind: "unsaved", reason });
  }
}

/** The newest cosignature of each key. */
function newestPerKey(cosignatures: readonly Cosignature[]): Cosignature[] {
  const newest = new Map<string, Cosignature>();
  for (const one of cosignatures) {
    const id = encodeVkey(one.key);
    if (one.time >= (newest.get(id)?.time ?? 0n)) newest.set(id, one);
  }
  return [...newest.values()];
}
