import { assertWithin, CountersignError, resolveLimits } from "@countersign/core";
import type { Limits } from "@countersign/core";

/** The exchange and the run an event belongs to. */
export interface SocketEventPlace {
  /** The input it answers, counted from 1. */
  readonly exchange: number;
  /** The run on this socket, counted from 1; 0 for an error before any run started. */
  readonly run: number;
  /** Whether this event ends the run. */
  readonly ends: boolean;
}

/** Follows the runs that share one socket. */
export interface SocketRuns {
  /**
   * A `RunAgentInput` frame goes to the server; returns its number.
   *
   * @throws CountersignError `ERR_WEBSOCKET_RUN_ACTIVE` while the answer to the last one is not over
   */
  input(): number;
  /**
   * An event of this type came from the server.
   *
   * @throws CountersignError `ERR_WEBSOCKET_NO_INPUT` before the first input
   */
  event(type: string): SocketEventPlace;
  /** Whether the server still owes the end of a run. */
  readonly active: boolean;
  /** The socket closed: `truncated` when a run was still going, whatever the close code says. */
  close(): "complete" | "truncated";
}

/**
 * Splits a socket into exchanges and runs: one input at a time, each answered by one run or several
 * (replayed history restates earlier runs), the last of which ends with a terminal event.
 *
 * It only counts and attributes. Whether the order inside a run is right is the run automaton's matter.
 *
 * @throws TypeError when a limit is not a positive integer
 */
export function createSocketRuns(limits?: Partial<Limits>): SocketRuns {
  const { maxRuns } = resolveLimits(limits);
  let exchange = 0;
  let run = 0;
  let active = false;
  let closed = false;

  function assertOpen(): void {
    if (closed) throw new TypeError("the socket is closed");
  }

  return {
    input() {
      assertOpen();
      if (active) {
        throw new CountersignError("ERR_WEBSOCKET_RUN_ACTIVE", "a run is still going", {
          exchange,
        });
      }
      assertWithin("maxRuns", exchange + 1, maxRuns);
      active = true;
      return ++exchange;
    },
    event(type) {
      assertOpen();
      if (exchange === 0) {
        throw new CountersignError("ERR_WEBSOCKET_NO_INPUT", "an event before any input", {});
      }
      const ends = type === "RUN_FINISHED" || type === "RUN_ERROR";
      if (type === "RUN_STARTED") {
        assertWithin("maxRuns", run + 1, maxRuns);
        run++;
        active = true;
      } else if (ends) active = false;
      return { exchange, run, ends };
    },
    get active() {
      return active;
    },
    close() {
      closed = true;
      return active ? "truncated" : "complete";
    },
  };
}
