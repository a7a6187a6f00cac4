import { CountersignError } from "../errors/error.js";
import {
  assertPositiveInteger,
  DEFAULT_DEPTH,
  DEFAULT_TEXT_BYTES,
  MEBIBYTE,
} from "./text-limits.js";

/**
 * All limits of the product, in one place.
 *
 * Each decoder takes a `Partial<Limits>` and fills the rest from {@link DEFAULT_LIMITS}. Exceeding
 * a limit is a coded error, and the decoder cannot be used afterwards.
 */
export interface Limits {
  /** Bytes of one transport frame: an SSE event block, a WebSocket message, a protobuf frame. */
  readonly maxFrameBytes: number;
  /** Bytes of one event's JSON text. */
  readonly maxEventBytes: number;
  /** Bytes of one SSE line without its ending. */
  readonly maxLineBytes: number;
  /** Bytes of one request body (a `RunAgentInput`). */
  readonly maxInputBytes: number;
  /** JSON values of one request body: the cost of a value does not depend on its bytes. */
  readonly maxInputValues: number;
  /** JSON values of one event of an agent. */
  readonly maxEventValues: number;
  /** Nesting of arrays and objects in one JSON text. */
  readonly maxDepth: number;
  /** Events of one stream. */
  readonly maxEvents: number;
  /** Chunk lanes open at once: the main one and one for each subagent. */
  readonly maxLanes: number;
  /** Messages, tool calls, reasoning spans, steps and subagents open at once in one run. */
  readonly maxOpenUnits: number;
  /** Bytes held back at once while a unit waits for its decision. */
  readonly maxHeldBytes: number;
  /** Runs on one stream or socket. */
  readonly maxRuns: number;
  /** Messages of one conversation, in an input or in a snapshot. */
  readonly maxMessages: number;
  /** UTF-8 bytes of one identifier (thread, run, message, tool call). */
  readonly maxIdLength: number;
}

/** The limits used when the caller sets none. */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  // The official 1.0 client rejects a longer unterminated tail, so nothing larger is readable.
  maxFrameBytes: 10 * MEBIBYTE,
  maxEventBytes: DEFAULT_TEXT_BYTES,
  maxLineBytes: 10 * MEBIBYTE,
  maxInputBytes: 10 * MEBIBYTE,
  // 10,000 messages have half as many; ten megabytes of one-letter members blocked all streams for
  // seconds.
  maxInputValues: 100_000,
  // Twenty documents with their embeddings have 31,000; a patch of 12,500 operations has as many.
  // All streams wait while one event is evaluated.
  maxEventValues: 50_000,
  maxDepth: DEFAULT_DEPTH,
  maxEvents: 1_000_000,
  maxLanes: 256,
  maxOpenUnits: 1024,
  maxHeldBytes: 16 * MEBIBYTE,
  maxRuns: 10_000,
  maxMessages: 10_000,
  maxIdLength: 1024,
});

const RESOLVED = new WeakSet<object>([DEFAULT_LIMITS]);

/**
 * Fills missing limits from the defaults. An earlier result is returned unchanged, so that a
 * function called for each frame may resolve the same limits at no cost.
 *
 * @throws TypeError when a given limit is not a positive integer (a caller's mistake).
 */
export function resolveLimits(limits?: Partial<Limits>): Limits {
  if (limits === undefined) return DEFAULT_LIMITS;
  if (RESOLVED.has(limits)) return limits as Limits;
  const resolved: Record<string, number> = { ...DEFAULT_LIMITS };
  for (const [name, value] of Object.entries(limits)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) throw new TypeError(`unknown limit ${name}`);
    assertPositiveInteger(name, value);
    resolved[name] = value;
  }
  RESOLVED.add(Object.freeze(resolved));
  return resolved as unknown as Limits;
}

/**
 * Throws `ERR_LIMIT_EXCEEDED` when an amount exceeds its limit; an amount equal to the limit is
 * allowed.
 *
 * @param name the limit's name, e.g. `maxOpenUnits`
 * @param offset the position in the input, if there is one
 */
export function assertWithin(name: string, amount: number, allowed: number, offset?: number): void {
  if (amount <= allowed) return;
  const facts = { limit: name, allowed };
  throw new CountersignError(
    "ERR_LIMIT_EXCEEDED",
    `over the limit ${name} of ${allowed}`,
    offset === undefined ? facts : { ...facts, offset },
  );
}
