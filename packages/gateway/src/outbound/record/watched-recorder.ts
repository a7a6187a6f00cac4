import { isCountersignError } from "@countersign/core";
import { createHealth } from "../../base/health.js";
import type { Recorder } from "../../event/recorder.js";

/** A recorder that reports whether it can record decisions now, for `/readyz`. */
export type WatchedRecorder = Recorder & {
  isReady(): boolean;
  room(): Promise<void> | undefined;
};

/**
 * The number of pending entries of all runs at which every agent has to wait. The log refuses appends over 16,384 entries, and a refusal
 * ends a run: a thousand busy streams must wait instead.
 */
const MAX_PENDING = 8192;

/** Failures of the store, the signer and the log, not of a single entry. */
const STORE_CODES = /^ERR_(STORE|SIGN|LOG)_/u;

export function createWatchedRecorder(recorder: Recorder): WatchedRecorder {
  const { probe } = recorder;
  const health = createHealth(probe === undefined ? undefined : () => probe());
  let pending = 0;
  let roomAgain: { promise: Promise<void>; resolve: () => void } | undefined;
  const note = (error: unknown): void => {
    if (isStoreError(error)) health.failed();
  };
  const settle = (count: number): void => {
    pending -= count;
    if (roomAgain === undefined || pending > MAX_PENDING / 2) return;
    roomAgain.resolve();
    roomAgain = undefined;
  };
  return {
    isReady: () => health.isReady(),
    writer: recorder.writer,
    appendAll: (drafts) => {
      // The callbacks must not keep the drafts alive: what waits for a flush survives several garbage collections.
      const { length } = drafts;
      pending += length;
      return recorder.appendAll(drafts).then(
        (recorded) => {
          settle(length);
          health.succeeded();
          return recorded;
        },
        (error: unknown) => {
          settle(length);
          note(error);
          throw error;
        },
      );
    },
    room: () => {
      if (pending < MAX_PENDING) return undefined;
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

/** A refused entry does not make the recorder unready: one sender's entry must not stop the others. */
function isStoreError(error: unknown): boolean {
  return !isCountersignError(error) || STORE_CODES.test(error.code);
}
