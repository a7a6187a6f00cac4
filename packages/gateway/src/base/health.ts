/** Whether something that we depend on works now: what `/readyz` answers. */
export type Health = {
  /** Asks again, at most once a second, while it does not. */
  isReady(): boolean;
  succeeded(): void;
  failed(): void;
};

/** Milliseconds between two questions to something that is down. */
const PROBE_MS = 1000;

/**
 * Remembers how it went last. One success after a failure is enough to be ready again.
 *
 * A gateway that is not ready gets no traffic, and so nothing that could succeed: whoever asks
 * whether it is ready makes it find out, by the probe. `now` only ever goes on: by a clock that is set
 * back, the next question would be an hour away.
 */
export function createHealth(
  probe?: () => Promise<unknown>,
  now: () => number = () => performance.now(),
): Health {
  let ready = true;
  let probedAt = Number.NEGATIVE_INFINITY;
  return {
    isReady: () => {
      if (!ready && probe !== undefined && now() - probedAt >= PROBE_MS) {
        probedAt = now();
        void probe().then(
          () => {
            ready = true;
          },
          // It was not ready before either.
          () => undefined,
        );
      }
      return ready;
    },
    succeeded: () => {
      ready = true;
    },
    failed: () => {
      ready = false;
    },
  };
}
