import type { TextScrubber } from "../safe/scrub.js";

/** A call that was shown. */
export type RecordedCall = {
  readonly name: string;
  /** The AG-UI run that showed it. */
  readonly runId: string;
  isAnswered: boolean;
};

/** The messages shown for one model turn. */
export type Turn = {
  messages: number;
  reasonings: number;
  /** The last message; the calls of the turn belong to it. */
  lastMessageId: string | undefined;
  modelId: string | undefined;
};

/** A message that is shown while it is written, before it is recorded. */
export type LiveMessage = {
  readonly turnIndex: number;
  readonly messageId: string;
  readonly scrubber: TextScrubber;
  shown: string;
  /** A high surrogate whose low surrogate has not arrived yet. */
  half: string;
};

/**
 * A run of the ledger. It may span several AG-UI runs: an interrupt closes one, the answer opens
 * the next, and calls made before are answered after it.
 */
export class LedgerRun {
  readonly id: number;
  readonly calls = new Map<string, RecordedCall>();
  live: LiveMessage | undefined;
  readonly #turns = new Map<number, Turn>();

  constructor(id: number) {
    this.id = id;
  }

  turn(index: number): Turn {
    let turn = this.#turns.get(index);
    if (turn === undefined) {
      turn = { messages: 0, reasonings: 0, lastMessageId: undefined, modelId: undefined };
      this.#turns.set(index, turn);
    }
    return turn;
  }

  /** Derived from the ledger alone, so that two projections give the same id. */
  messageId(turnIndex: number, number: number): string {
    return `agent-os:run:${this.id}:turn:${turnIndex}:message:${number}`;
  }

  reasoningId(turnIndex: number, number: number): string {
    return `agent-os:run:${this.id}:turn:${turnIndex}:reasoning:${number}`;
  }

  resultId(toolCallId: string): string {
    return `agent-os:run:${this.id}:tool-result:${toolCallId}`;
  }
}
