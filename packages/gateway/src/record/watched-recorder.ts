import { isCountersignError } from "@countersign/core";
import type { Clock } from "../ports.js";
import type { Recorder } from "./recorder.js";

/** A recorder that knows whether decisions can be recorded now: what `/readyz` answers. */
export type WatchedRecorder = Recorder & { isReady(): boolean };

/** Milliseconds between two questions to a store that is down. */
const PROBE_MS = 1000;

/** Failures of the store, the signer and the log, as opposed to those of an entry. */
const STORE_CODES = /^ERR_(STORE|SIGN|LOG)_/u;

/**
 * Watches a recorder. One success after a failure is enough to be ready again.
 *
 * A gateway that is not ready gets no traffic, and so no append that could succeed: whoever asks
 * whether it is ready makes it find out.
 */
export function createWatchedRecorder(recorder: Recorder, clock: Clock): WatchedRecorder {
  let ready = true;
  let probedAt = Number.NEGATIVE_INFINITY;
  const watch = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      const result = await work();
      ready = true;
      return result;
    } catch (error) {
      if (isOfTheStore(error)) ready = false;
      throw error;
    }
  };
  return {
    isReady: () => {
      const now = clock.now();
      const { probe } = recorder;
      if (!ready && probe !== undefined && now - probedAt >= PROBE_MS) {
        probedAt = now;
        void watch(() => probe()).catch(() => {});
      }
      return ready;
    },
    append: (draft) => watch(() => recorder.append(draft)),
  };
}

/** One entry that the log refuses says nothing about the next: whoever sends it must not stop the rest. */
function isOfTheStore(error: unknown): boolean {
  return !isCountersignError(error) || STORE_CODES.test(error.code);
}
