import type { Recorder } from "./recorder.js";

/** A recorder that knows whether its last append succeeded: what `/readyz` answers. */
export type WatchedRecorder = Recorder & { readonly isHealthy: boolean };

/** Watches a recorder. One success after a failure is enough to be ready again. */
export function createWatchedRecorder(recorder: Recorder): WatchedRecorder {
  let healthy = true;
  return {
    get isHealthy() {
      return healthy;
    },
    append: (draft) =>
      recorder.append(draft).then(
        (appended) => {
          healthy = true;
          return appended;
        },
        (error: unknown) => {
          healthy = false;
          throw error;
        },
      ),
  };
}
