import { isCountersignError } from "@countersign/core";
import { createHealth } from "../../base/health.js";
import type { Recorder } from "../../event/recorder.js";

/** A recorder that knows whether decisions can be recorded now: what `/readyz` answers. */
export type WatchedRecorder = Recorder & {
  isReady(): boolean;
  room(): Promise<void> | undefined;
};

/**
 * Entries of all runs together that may be on their way before every agent has to wait. The log refuses
 * appends over 16,384, and a refusal ends a run: a thousand busy streams must wait instead.
 */
const MAX_UNDER_WAY = 8192;

/** Failures of the store, the signer and the log, as opposed to those of an entry. */
const STORE_CODES = /^ERR_(STORE|SIGN|LOG)_/u;

/** Watches a recorder. */
export function createWatchedRecorder(recorder: Recorder): WatchedRecorder {
  const { probe } = recorder;
  const health = createHealth(probe === undefined ? undefined : () => probe());
  let underWay = 0;
  let roomAgain: { promise: Promise<void>; resolve: () => void } | undefined;
  const note = (error: unknown): void => {
    if (isOfTheStore(error)) health.failed();
  };
  const settle = (count: number): void => {
    underWay -= count;
    if (roomAgain === undefined || underWay > MAX_UNDER_WAY / 2) return;
    roomAgain.resolve();
    roomAgain = undefined;
  };
  return {
    isReady: () => health.isReady(),
    writer: recorder.writer,
    appendAll: (drafts) => {
      underWay += drafts.length;
      return recorder.appendAll(drafts).then(
        (recorded) => {
          settle(drafts.length);
          health.succeeded();
          return recorded;
        },
        (error: unknown) => {
          settle(drafts.length);
          note(error);
          throw error;
        },
      );
    },
    room: () => {
      if (underWay < MAX_UNDER_WAY) return undefined;
      if (roomAgain === undefined) {
        let resolve = (): void => {};
        const promise = new Promise<void>((resolved) => {
          resolve = resolved;
        });
        roomAgain = { promise, resolve };
      }
      return roomAgain.promise;
    },
  };
}

/** One entry that the log refuses says nothing about the next: whoever sends it must not stop the rest. */
function isOfTheStore(error: unknown): boolean {
  return !isCountersignError(error) || STORE_CODES.test(error.code);
}
