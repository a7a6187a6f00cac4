import type { Clock } from "../ports.js";
import type { Recorder } from "./recorder.js";

/** A recorder that knows whether decisions can be recorded now: what `/readyz` answers. */
export type WatchedRecorder = Recorder & { isReady(): boolean };

/** Milliseconds between two questions to a store that is down. */
const PROBE_MS = 1000;

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
      ready = false;
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
