/** The health of a dependency, for `/readyz`. */
export type Health = {
  /** True when it works. Probes it at most once a second while it does not. */
  isReady(): boolean;
  succeeded(): void;
  failed(): void;
};

/** Milliseconds between two probes of a failed dependency. */
const PROBE_MS = 1000;

/**
 * Remembers the last outcome. One success after a failure is enough to be ready again.
 *
 * A gateway that is not ready gets no traffic, and so nothing could succeed: the readiness check
 * itself starts the probe. `now` is monotonic: a wall clock that is set back could delay the next
 * probe by an hour.
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
