import { assertPositiveInteger, CountersignError, DEFAULT_LIMITS } from "@countersign/core";
import type {
  AgUiEvent,
  ReasoningMessageChunkEvent,
  TextMessageChunkEvent,
  ToolCallChunkEvent,
} from "../model/event.js";
import { LANE_EFFECTS } from "./lane-effect.js";
import { Lanes } from "./lanes.js";
import type { LaneKey, LaneLimits, OpenStream, PendingStream } from "./lanes.js";
import { contentOf, endOf, startOf } from "./synthesize.js";

type ChunkEvent = TextMessageChunkEvent | ToolCallChunkEvent | ReasoningMessageChunkEvent;

/** Options of `createChunkExpander`. */
export type ChunkExpanderOptions = {
  /** Chunk streams that may be open at once, one per lane. Default 256. */
  maxLanes?: number;
  /** Characters of ids and names that open streams may hold together. Default 1 Mi. */
  maxHeldCharacters?: number;
};

/** Turns chunk events into START, CONTENT or ARGS, and END. */
export type ChunkExpander = {
  /**
   * The events an event stands for: itself after the ENDs it implies, or a chunk's expansion
   * (which may be empty). Throws `ERR_CHUNK_*`; dead afterwards.
   */
  push(event: AgUiEvent): AgUiEvent[];
  /**
   * Ends the stream. Always empty: an END that no event implied is never made up, so a cut message
   * stays visibly cut. `openStreams()` then names what was still open.
   */
  end(): AgUiEvent[];
  /** The streams that chunks hold open, in the order they opened. */
  openStreams(): OpenStream[];
};

/** Creates an expander for one stream of events. */
export function createChunkExpander(options: ChunkExpanderOptions = {}): ChunkExpander {
  const limits = {
    maxLanes: options.maxLanes ?? DEFAULT_LIMITS.maxLanes,
    maxHeldCharacters: options.maxHeldCharacters ?? 1024 * 1024,
  };
  for (const [name, limit] of Object.entries(limits)) assertPositiveInteger(name, limit);
  return new Expander(limits);
}

class Expander implements ChunkExpander {
  readonly #lanes: Lanes;
  #eventNumber = 0;
  #failure: unknown;
  #ended = false;

  constructor(limits: LaneLimits) {
    this.#lanes = new Lanes(limits);
  }

  push(event: AgUiEvent): AgUiEvent[] {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#ended) throw new TypeError("push after end");
    this.#eventNumber++;
    const effect = LANE_EFFECTS[event.type];
    if (effect === "chunk") return this.#pushChunk(event as ChunkEvent);
    if (this.#lanes.size === 0 || effect === "none") return [event];
    if (effect === "own") {
      const ended = this.#lanes.take(laneOf(event));
      return ended === undefined ? [event] : [endOf(ended), event];
    }
    if (effect !== "all") return [event];
    const out = this.#lanes.streams().map(endOf);
    this.#lanes.clear();
    out.push(event);
    return out;
  }

  end(): AgUiEvent[] {
    this.#ended = true;
    return [];
  }

  openStreams(): OpenStream[] {
    return this.#lanes.streams().map(({ kind, id, subagentRunId }) => {
      const stream: OpenStream = { kind, id };
      if (subagentRunId !== undefined) stream.subagentRunId = subagentRunId;
      return stream;
    });
  }

  #pushChunk(event: ChunkEvent): AgUiEvent[] {
    try {
      return this.#expand(event);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  #expand(event: ChunkEvent): AgUiEvent[] {
    const claimed = claimOf(event);
    const lane = this.#lanes.resolve({
      kind: claimed.kind,
      id: claimed.id,
      tag: laneOf(event),
      type: event.type,
      eventNumber: this.#eventNumber,
    });
    const open = this.#lanes.get(lane);
    if (open?.kind === claimed.kind && (claimed.id === undefined || claimed.id === open.id)) {
      this.#requireAgreement(event, claimed, open);
      return continuation(open, event);
    }
    const out: AgUiEvent[] = [];
    const previous = this.#lanes.take(lane);
    if (previous !== undefined) out.push(endOf(previous));
    const stream = this.#opener(event, claimed);
    this.#lanes.open(lane, stream, this.#eventNumber);
    out.push(startOf(stream, event));
    if (event.delta !== undefined || event.rawEvent !== undefined) {
      out.push(contentOf(stream, event.delta ?? "", event));
    }
    return out;
  }

  /** Ids are never invented: a first chunk must say what it opens (AG-UI 1.0). */
  #opener(event: ChunkEvent, claimed: Claim): PendingStream {
    const field = event.type === "TOOL_CALL_CHUNK" ? "toolCallId" : "messageId";
    if (claimed.id === undefined) throw this.#incomplete(event.type, field);
    if (claimed.kind === "tool-call" && claimed.toolCallName === undefined) {
      throw this.#incomplete(event.type, "toolCallName");
    }
    const stream: PendingStream = { ...claimed, id: claimed.id };
    if (claimed.kind === "text") stream.role = claimed.role ?? "assistant";
    if (event.subagentRunId !== undefined) stream.subagentRunId = event.subagentRunId;
    return stream;
  }

  #requireAgreement(event: ChunkEvent, claimed: Claim, open: PendingStream): void {
    for (const field of REPEATABLE) {
      if (claimed[field] === undefined || claimed[field] === open[field]) continue;
      throw new CountersignError(
        "ERR_CHUNK_CONFLICT",
        `${event.type} repeats ${field} with another value than its first chunk`,
        { type: event.type, field, eventNumber: this.#eventNumber },
      );
    }
  }

  #incomplete(type: string, field: string): CountersignError {
    return new CountersignError("ERR_CHUNK_FIRST_INCOMPLETE", `first ${type} needs ${field}`, {
      type,
      field,
      eventNumber: this.#eventNumber,
    });
  }
}

type Claim = Omit<PendingStream, "id" | "subagentRunId"> & { id: string | undefined };

const REPEATABLE = ["role", "name", "toolCallName", "parentMessageId"] as const;

/** The identity of the stream a chunk belongs to. */
function claimOf(event: ChunkEvent): Claim {
  switch (event.type) {
    case "TEXT_MESSAGE_CHUNK":
      return {
        kind: "text",
        id: event.messageId,
        ...(event.role !== undefined && { role: event.role }),
        ...(event.name !== undefined && { name: event.name }),
      };
    case "TOOL_CALL_CHUNK":
      return {
        kind: "tool-call",
        id: event.toolCallId,
        ...(event.toolCallName !== undefined && { toolCallName: event.toolCallName }),
        ...(event.parentMessageId !== undefined && { parentMessageId: event.parentMessageId }),
      };
    case "REASONING_MESSAGE_CHUNK":
      return { kind: "reasoning", id: event.messageId };
  }
}

function continuation(open: PendingStream, event: ChunkEvent): AgUiEvent[] {
  const carries =
    event.delta !== undefined ||
    event.rawEvent !== undefined ||
    event.metadata !== undefined ||
    // A null tag must reach the order stage, which refuses it; it may not vanish with the chunk.
    (event.subagentRunId as unknown) === null;
  return carries ? [contentOf(open, event.delta ?? "", event)] : [];
}

/** A null tag (possible only without enforcement) reads as the parent's lane. */
function laneOf(event: AgUiEvent): LaneKey {
  return "subagentRunId" in event ? (event.subagentRunId ?? undefined) : undefined;
}
