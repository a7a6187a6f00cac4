import { CountersignError, SmallMap } from "@countersign/core";
import type { TextMessageRole } from "../model/event.js";

/** The kind of message a chunk stream assembles. */
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

/** Selects the lane of a chunk. */
export type LaneQuery = {
  kind: StreamKind;
  id: string | undefined;
  tag: LaneKey;
  type: string;
  eventNumber: number;
};

/** Bounds of the lanes. */
export type LaneLimits = { maxLanes: number; maxHeldCharacters: number };

/** The memory of an open stream. It never holds the text. */
function charactersOf(stream: PendingStream): number {
  const { id, subagentRunId, name, toolCallName, parentMessageId } = stream;
  return [id, subagentRunId, name, toolCallName, parentMessageId].reduce(
    (sum, text) => sum + (text?.length ?? 0),
    0,
  );
}

/**
 * The streams under assembly, at most one per lane.
 *
 * Two lanes never hold the same kind and id: a named id continues where it is already open.
 */
export class Lanes {
  readonly #lanes = new SmallMap<LaneKey, PendingStream>();
  readonly #limits: LaneLimits;
  #held = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#lanes.size;
  }

  get(lane: LaneKey): PendingStream | undefined {
    return this.#lanes.get(lane);
  }

  /** Opens a stream in a lane that holds none. */
  open(lane: LaneKey, stream: PendingStream, eventNumber: number): void {
    const { maxLanes, maxHeldCharacters } = this.#limits;
    if (this.#lanes.size >= maxLanes) {
      throw new CountersignError(
        "ERR_CHUNK_TOO_MANY_LANES",
        `more than ${maxLanes} chunk streams are open at once`,
        { limit: maxLanes, eventNumber },
      );
    }
    this.#held += charactersOf(stream);
    if (this.#held > maxHeldCharacters) {
      throw new CountersignError(
        "ERR_CHUNK_HELD_TOO_LARGE",
        `the open chunk streams hold more than ${maxHeldCharacters} characters of ids and names`,
        { limit: maxHeldCharacters, eventNumber },
      );
    }
    this.#lanes.set(lane, stream);
  }

  /** Takes the stream out of a lane. */
  take(lane: LaneKey): PendingStream | undefined {
    const stream = this.#lanes.get(lane);
    if (stream === undefined) return undefined;
    this.#lanes.delete(lane);
    this.#held -= charactersOf(stream);
    return stream;
  }

  /** Every open stream, in the order they opened. */
  streams(): PendingStream[] {
    return [...this.#lanes.values()];
  }

  clear(): void {
    this.#lanes.clear();
    this.#held = 0;
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
