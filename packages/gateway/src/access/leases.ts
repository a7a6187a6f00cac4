import type { Grant } from "./access.js";

/** Milliseconds between two looks at what is open: how late an end may come. */
const LOOK_MS = 500;

type Lease = { readonly grant: Grant; end(): void };

/** What is open, and on what ground; it ends when its ground does. */
export type Leases = {
  /** Calls `end` once, when the grant counts no longer; gives the way to let go before that. */
  open(grant: Grant, end: () => void): () => void;
  readonly size: number;
  stop(): void;
};

/** Starts the common look; one timer for all, since one each would cost memory per idle stream. */
export function createLeases(everyMs: number = LOOK_MS): Leases {
  const leases = new Set<Lease>();
  const timer = setInterval(() => {
    for (const lease of leases) {
      if (lease.grant.isValid()) continue;
      leases.delete(lease);
      lease.end();
    }
  }, everyMs);
  timer.unref();
  return {
    open: (grant, end) => {
      const lease = { grant, end };
      leases.add(lease);
      return () => void leases.delete(lease);
    },
    get size() {
      return leases.size;
    },
    stop: () => clearInterval(timer),
  };
}
