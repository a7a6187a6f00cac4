import { CountersignError } from "@countersign/core";
import type { TextMessageRole } from "../model/event.js";

/** What a chunk stream assembles. */
export type StreamKind = "text" | "tool-call" | "reasoning";

/** A stream that chunks opened and nothing has closed yet. */
export type OpenStream = {
  kind: StreamKind;
  /** The message id, or the tool call id. */
  id: string;
  /** The lane's subagent; absent is the parent agent. */
  subagentRunId?: string;
};

/** An open stream with what its opener said, so that a repeat can be held against it. */
export type PendingStream = OpenStream & {
  role?: TextMessageRole;
  name?: string;
  toolCallName?: string;
  parentMessageId?: string;
};

/** A lane is a subagent; `undefined` is the parent agent. */
export type LaneKey = string | undefined;

/** Where a chunk looks for its lane. */
export type LaneQuery = {
  kind: StreamKind;
  id: string | undefined;
  tag: LaneKey;
  type: string;
  eventNumber: number;
};

/**
 * The streams under assembly, at most one per lane.
 *
 * Two lanes never hold the same kind and id: a named id continues where it is already open.
 */
export class Lanes {
  readonly #lanes = new Map<LaneKey, PendingStream>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#lanes.size;
  }

  get(lane: LaneKey): PendingStream | undefined {
    return this.#lanes.get(lane);
  }

  /** Opens a stream in a lane that holds none. */
  open(lane: LaneKey, stream: PendingStream, eventNumber: number): void {
    if (this.#lanes.size >= this.#limit) {
      throw new CountersignError(
        "ERR_CHUNK_TOO_MANY_LANES",
        `more than ${this.#limit} chunk streams are open at once`,
        { limit: this.#limit, eventNumber },
      );
    }
    this.#lanes.set(lane, stream);
  }

  /** Takes the stream out of a lane. */
  take(lane: LaneKey): PendingStream | undefined {
    const stream = this.#lanes.get(lane);
    if (stream !== undefined) this.#lanes.delete(lane);
    return stream;
  }

  /** Every open stream, in the order they opened. */
  streams(): PendingStream[] {
    return [...this.#lanes.values()];
  }

  clear(): void {
    this.#lanes.clear();
  }

  /** The lane a chunk belongs to; an id is stronger than a tag, a tag stronger than a guess. */
  resolve(query: LaneQuery): LaneKey {
    return query.id === undefined
      ? this.#resolveUnnamed(query)
      : this.#resolveNamed(query, query.id);
  }

  #resolveNamed(query: LaneQuery, id: string): LaneKey {
    const own = this.#lanes.get(query.tag);
    if (own !== undefined && own.kind === query.kind && own.id === id) return query.tag;
    for (const [lane, stream] of this.#lanes) {
      if (stream.kind !== query.kind || stream.id !== id) continue;
      if (query.tag === undefined) return lane;
      throw new CountersignError(
        "ERR_CHUNK_CONFLICT",
        `${query.type} names a stream that another lane holds`,
        { type: query.type, field: "subagentRunId", eventNumber: query.eventNumber },
      );
    }
    return query.tag;
  }

  #resolveUnnamed(query: LaneQuery): LaneKey {
    if (query.tag !== undefined || this.#lanes.get(undefined)?.kind === query.kind)
      return query.tag;
    let candidates = 0;
    let only: LaneKey;
    for (const [lane, stream] of this.#lanes) {
      if (stream.kind !== query.kind) continue;
      candidates++;
      only = lane;
    }
    if (candidates > 1) {
      throw new CountersignError(
        "ERR_CHUNK_AMBIGUOUS",
        `${query.type} carries neither an id nor a subagentRunId and ${candidates} lanes could continue`,
        { type: query.type, lanes: candidates, eventNumber: query.eventNumber },
      );
    }
    return only;
  }
}
