import type { JsonObject } from "@countersign/core";
import type { AgUiReceipt } from "../receipt/receipt.js";

/** An event that a client received, and the run that it requested. */
export type ReceivedEvent = {
  readonly event: JsonObject;
  readonly threadId: string;
  readonly runId: string;
};

/** Why the position of a receipt is wrong. */
export type PositionFault =
  /** Its id contains no stream position. */
  | "no-place"
  /** It belongs to another stream: another run, another session, another time. */
  | "other-stream"
  /** A receipt between it and the previous one is missing. */
  | "gap"
  /** Its position was already used: it is repeated or late. */
  | "repeated";

/** The position of a receipt. */
export type TakenPosition = {
  readonly fault: PositionFault | undefined;
  /** Whether the receipt that opened the stream is valid. */
  readonly isOpened: Promise<boolean>;
  /** Reports whether the receipt is valid; used for the first receipt of a stream. */
  settle(holds: Promise<boolean>): void;
};

/** The positions in the streams that one client reads, one stream after the other. */
export type StreamPositions = {
  take(receipt: AgUiReceipt, received: ReceivedEvent): TakenPosition;
};

const POSITION = /^(.{1,256})\.([1-9]\d{0,14})$/su;
/** Number of past streams to remember, so that none can be replayed. */
const MAX_STREAMS = 10_000;

type Stream = {
  readonly name: string;
  readonly session: string | undefined;
  readonly agent: string;
  next: number;
  isOpened: Promise<boolean>;
};

const NEVER = Promise.resolve(false);

/** Tracks stream positions (docs/decisions/2026-11-16-receipts-to-clients.md). */
export function createStreamPositions(): StreamPositions {
  const known = new Set<string>();
  let stream: Stream | undefined;

  function faultOf(receipt: AgUiReceipt, received: ReceivedEvent): PositionFault | undefined {
    const [, name, digits] = POSITION.exec(receipt.event_id) ?? [];
    if (name === undefined) return "no-place";
    const position = Number(digits);
    if (position === 1 && name !== stream?.name) return begin(name, receipt, received);
    if (stream === undefined || name !== stream.name) return "other-stream";
    if (receipt.session_id !== stream.session || receipt.agent_id !== stream.agent) {
      return "other-stream";
    }
    if (position < stream.next) return "repeated";
    const fault = position === stream.next ? undefined : "gap";
    stream.next = position + 1;
    return fault;
  }

  /** A stream starts once, with the `RUN_STARTED` of the requested run. */
  function begin(
    name: string,
    receipt: AgUiReceipt,
    received: ReceivedEvent,
  ): PositionFault | undefined {
    const { event, threadId, runId } = received;
    if (known.has(name)) return "repeated";
    const isStart = event["type"] === "RUN_STARTED";
    if (!isStart || event["threadId"] !== threadId || event["runId"] !== runId) {
      return "other-stream";
    }
    const oldest = known.size >= MAX_STREAMS ? known.values().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    known.add(name);
    const { session_id: session, agent_id: agent } = receipt;
    stream = { name, session, agent, next: 2, isOpened: NEVER };
    return undefined;
  }

  return {
    take(receipt, received) {
      const before = stream;
      const fault = faultOf(receipt, received);
      const current = stream;
      return {
        fault,
        get isOpened() {
          return current?.isOpened ?? NEVER;
        },
        settle(holds) {
          // Later receipts depend on the first one, which alone names the run.
          if (current !== undefined && current !== before) current.isOpened = holds;
        },
      };
    },
  };
}
