import { setTimeout as delay } from "node:timers/promises";
import { CountersignError } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import type { Access } from "../access/access.js";
import "../base/errors.js";
import type { ResumableStream } from "../http/resume/resumable-stream.js";
import { isHolder, readPosition, writePosition } from "../http/resume/resume-request.js";
import type { Position, ResumeRequest, SharedFacts } from "../http/resume/resume-request.js";
import type { SharedStream, SharedStreams } from "../http/resume/shared-streams.js";
import type { StreamCopy } from "../http/resume/stream-copy.js";
import { isRunEnd } from "../http/resume/stream-reader.js";
import type { StreamReader } from "../http/resume/stream-reader.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { RedisConnections } from "../store/redis/open-redis.js";
import { GatewayLease } from "./gateway-lease.js";
import { endLostRun } from "./lost-run.js";
import { StreamCopies } from "./stream-copies.js";
import { isNext, readPage, readTail, StreamFollower } from "./stream-follower.js";
import type { OpenedEntry } from "./stream-follower.js";
import { createStreamNames, keysOf } from "./stream-names.js";
import { CLAIM, END_ID, FINISH, RELEASE } from "./stream-scripts.js";
import { END, StreamSeal } from "./stream-seal.js";
import { StreamSignals } from "./stream-signals.js";

/** How long a claim of a lost stream lasts: the log may be slow. */
const CLAIM_MS = 10_000;
/**
 * Pauses between looks for a stream that a gateway named and Redis does not have: a client may come back before the
 * gateway of its run has stored the first event.
 */
const FIRST_WAITS_MS = [20, 80, 200, 0];
/** How long a gateway that stops waits for what is not stored yet. */
const FLUSH_MS = 1000;
/** A copy outlives its gateway by this time; see `stream-copies.ts`. */
const ENDED_MS = 60_000;

/** A gateway that is held up for longer than this may write its stream again. */
const TAKEN_MS = 3_600_000;

/** Ends that a gateway remembers. */
const MAX_LOST = 1000;

/** The parts of a gateway that shared streams use. */
export type RedisStreamsParts = {
  readonly redis: RedisConnections;
  /** The name of this gateway. */
  readonly gateway: string;
  /** Keys that all gateways of the log derive. */
  readonly keys: {
    readonly names: Uint8Array;
    readonly frames: Uint8Array;
    readonly signals: Uint8Array;
  };
};

type StoredFacts = SharedFacts & { readonly gateway: string };

type Context = Pick<
  GatewayContext,
  "recorder" | "policy" | "clock" | "mintId" | "journal" | "telemetry"
>;

/** The resumable streams of all gateways of a log, in Redis. */
export class RedisStreams implements SharedStreams {
  readonly #parts: RedisStreamsParts;
  readonly #context: Context;
  readonly #access: Pick<Access, "restore">;
  readonly #limits: { readonly reconnectBytes: number; readonly followedStreams: number };
  readonly #names: ReturnType<typeof createStreamNames>;
  readonly #copies: StreamCopies;
  readonly #signals: StreamSignals;
  readonly #lease: GatewayLease;
  /** The ends that this gateway signed for lost runs: where Redis did not accept an end, it is written again as it is. */
  readonly #lost = new Map<string, Promise<string[]>>();
  readonly #followers = new Map<string, StreamFollower>();
  readonly #stopWatching: () => void;

  constructor(
    parts: RedisStreamsParts,
    context: Context,
    access: Pick<Access, "restore">,
    limits: {
      readonly reconnectGraceMs: number;
      readonly reconnectBytes: number;
      readonly followedStreams: number;
    },
  ) {
    const { redis, gateway, keys } = parts;
    this.#parts = parts;
    this.#context = context;
    this.#access = access;
    this.#limits = limits;
    this.#names = createStreamNames(keys.names);
    this.#copies = new StreamCopies({
      redis,
      key: keys.frames,
      gateway,
      graceMs: limits.reconnectGraceMs,
      signals: () => this.#signals,
    });
    this.#signals = new StreamSignals(redis, keys.signals, gateway, {
      onSignal: (signal) => {
        if (signal.kind === "displaced") this.#followers.get(signal.reader)?.hangUp();
        else if (signal.kind === "news") this.#wakeAll(signal.stream);
        else this.#copies.receive(signal);
      },
      onListening: () => this.#wakeAll(),
    });
    this.#lease = new GatewayLease(redis, gateway);
    // A Redis that restarted may have lost everything.
    this.#stopWatching = redis.onChange((isUp) => {
      if (isUp) this.#copies.renew();
    });
    Object.defineProperties(context.telemetry.sharedStreams, {
      copies: { get: () => this.#copies.size },
      incomplete: { get: () => this.#copies.incomplete },
      followed: { get: () => this.#followers.size },
    });
    this.#lease.start();
  }

  createKey(): string {
    return this.#names.create();
  }

  assertAvailable(): void {
    const { isUp, options } = this.#parts.redis;
    if (!isUp && options.whenDown === "refuse") throw unreachable();
  }

  share(stream: ResumableStream, facts: SharedFacts): StreamCopy {
    return this.#copies.add(stream, facts);
  }

  async find(request: ResumeRequest): Promise<SharedStream | undefined> {
    const position = readPosition(request.lastEventId);
    if (position === undefined || !this.#names.isOwn(position.key)) return undefined;
    const results = this.#context.telemetry.sharedStreams.results;
    const { key } = position;
    const seal = new StreamSeal(this.#parts.keys.frames, key);
    let stored: StoredFacts | undefined;
    let entries: readonly OpenedEntry[] | undefined;
    try {
      for (const wait of FIRST_WAITS_MS) {
        stored = await this.#readFacts(key, seal);
        if (stored !== undefined) break;
        await delay(wait);
      }
      if (stored !== undefined && this.#isHolder(stored, request)) {
        entries = await readPage(this.#parts.redis, key, seal, position.after);
      }
    } catch {
      results.add("failed");
      throw unreachable();
    }
    if (stored === undefined || entries === undefined || !hasRest(entries, position, request)) {
      results.add("gone");
      return undefined;
    }
    if (this.#followers.size >= this.#limits.followedStreams) {
      results.add("failed");
      const { followedStreams: allowed } = this.#limits;
      throw new CountersignError("ERR_STREAM_LIMIT", "too many streams of other gateways", {
        allowed,
      });
    }
    results.add("taken");
    const facts = stored;
    return {
      key,
      sessionId: facts.holder.sessionId,
      run: facts.run,
      follow: (reader, connection) =>
        this.#follow(facts, seal, position, request.isViewer, reader).start(connection),
    };
  }

  leave(): void {
    for (const follower of this.#followers.values()) follower.hangUp();
  }

  async close(): Promise<void> {
    this.#stopWatching();
    this.leave();
    await this.#copies.flush(FLUSH_MS);
    this.#copies.close();
    await this.#lease.stop();
    this.#signals.close();
  }

  #follow(
    facts: StoredFacts,
    seal: StreamSeal,
    { key, after, isRunOver }: Position,
    isViewer: boolean,
    reader: StreamReader,
  ): StreamFollower {
    const { redis, gateway } = this.#parts;
    const follower: StreamFollower = new StreamFollower(
      key,
      {
        redis,
        seal,
        reportBytes: this.#limits.reconnectBytes / 4,
        report: (id, place, isNew) =>
          this.#signals.send(facts.gateway, {
            kind: "reader",
            stream: key,
            reader: id,
            gateway,
            after: place,
            isViewer,
            isNew,
          }),
        left: (id) => this.#signals.send(facts.gateway, { kind: "left", reader: id }),
        endIfGone: (place, isOver) => this.#endIfGone(facts, seal, key, place, isOver),
        refused: (reason) => {
          // A viewer that does not read falls behind what is kept; for a client the gateway of the run waits.
          if (reason === "changed" || !isViewer) this.#refuse(reason);
        },
        closed: () => this.#followers.delete(follower.id),
      },
      reader,
      { after, isRunOver },
    );
    this.#followers.set(follower.id, follower);
    return follower;
  }

  #isHolder(stored: StoredFacts, request: ResumeRequest): boolean {
    return isHolder(stored.holder, request, () => {
      const grant = stored.grant && this.#access.restore?.(stored.grant);
      return grant?.isValid() === true;
    });
  }

  async #readFacts(key: string, seal: StreamSeal): Promise<StoredFacts | undefined> {
    const [, name] = keysOf(this.#parts.redis, key);
    const sealed = await this.#parts.redis.commandBuffer("GET", name);
    if (!Buffer.isBuffer(sealed)) return undefined;
    const facts = seal.openFacts(sealed);
    if (facts === undefined) this.#refuse("changed");
    return facts as JsonObject as StoredFacts | undefined;
  }

  /**
   * Ends a stream whose gateway is gone: with what it stored where the run was over, with an error where it was not.
   * One gateway does it; the others read what it wrote. Resolves with whether the reader has everything already.
   */
  async #endIfGone(
    facts: StoredFacts,
    seal: StreamSeal,
    key: string,
    after: number,
    isRunOver: boolean,
  ): Promise<boolean> {
    if (!(await this.#lease.isGone(facts.gateway))) return false;
    const { redis } = this.#parts;
    const before = await readTail(redis, key, seal);
    // This client had the end of the run before it was stored. Its position tells other readers nothing new.
    if (after > before.last && isRunOver) return true;
    const keys = keysOf(redis, key);
    const claim = `claim ${this.#parts.gateway}`;
    if ((await redis.run(CLAIM, keys, [claim, CLAIM_MS, END_ID])) !== "ok") return false;
    // The gateway may have come back between the look at its lease and the claim.
    if (await this.#lease.isAlive(facts.gateway)) {
      await redis.run(RELEASE, [keys[2]], [claim]);
      return false;
    }
    // From the claim on that gateway cannot append.
    const { last, texts: tail } = await readTail(redis, key, seal);
    const lastText = tail.at(-1);
    const hasFinished = lastText !== undefined && isRunEnd(lastText);
    const texts = hasFinished ? [] : await this.#endLost(key, last, facts, tail);
    const sealed = seal.sealEvents({ first: last + 1, last: END }, texts);
    const result = await redis.run(FINISH, keys, [
      claim,
      ENDED_MS,
      END_ID,
      last + 1,
      sealed,
      TAKEN_MS,
    ]);
    this.#wakeAll(key);
    // Several readers here may have come to the same end.
    if (hasFinished || result !== "ok") return false;
    this.#context.telemetry.sharedStreams.results.add("lost");
    this.#context.journal.warn(
      { code: "STREAM_GATEWAY_LOST", gateway: facts.gateway, run: facts.run.runId },
      "the gateway of a resumed stream is gone; its run ended with an error",
    );
    return false;
  }

  /** Signs once for the end of a lost run after an event. */
  #endLost(
    key: string,
    last: number,
    facts: StoredFacts,
    tail: readonly string[],
  ): Promise<string[]> {
    const place = writePosition(key, last);
    const known = this.#lost.get(place);
    if (known !== undefined) return known;
    const texts = endLostRun(this.#context, facts, tail);
    this.#lost.set(place, texts);
    texts.catch(() => this.#lost.delete(place));
    const [oldest] = this.#lost.keys();
    if (this.#lost.size > MAX_LOST && oldest !== undefined) this.#lost.delete(oldest);
    return texts;
  }

  #refuse(reason: "changed" | "missing"): void {
    this.#context.telemetry.sharedStreams.results.add("refused");
    this.#context.journal.warn(
      { code: "STREAM_REFUSED", reason },
      "a stream in Redis is not as a gateway of this log wrote it",
    );
  }

  #wakeAll(stream?: string): void {
    for (const follower of this.#followers.values()) {
      if (stream === undefined || follower.stream === stream) follower.wake();
    }
  }
}

/** Whether Redis has what follows a position, or its gateway may still store it. */
function hasRest(
  [next]: readonly OpenedEntry[],
  position: Position,
  { returnsForever }: ResumeRequest,
): boolean {
  if (next === undefined) return true;
  if (next.texts === undefined || !isNext(next, position)) return false;
  // Only the end is left.
  const { isRunOver } = position;
  return !(next.isEnd && returnsForever && (isRunOver || next.texts.length === 0));
}

function unreachable(): CountersignError<"ERR_STREAM_UNREACHABLE"> {
  const message = "the store of resumable streams does not respond";
  return new CountersignError("ERR_STREAM_UNREACHABLE", message, {});
}
