import type { Grant } from "./access.js";

/** Milliseconds between two looks at what is open: how late an end may come. */
const LOOK_MS = 500;

/** Something open, on what ground, and what ends it: called once, when the grant counts no longer. */
export type Lease = { readonly grant: Grant; end(): void };

/** What is open, and on what ground; it ends when its ground does. */
export type Leases = {
  add(lease: Lease): void;
  /** Lets go of what has ended by itself. */
  remove(lease: Lease): void;
  readonly size: number;
  stop(): void;
};

/** Starts the common look; one timer for all, since one each would cost memory per idle stream. */
export function createLeases(everyMs: number = LOOK_MS): Leases {
  const leases = new Set<Lease>();
  const timer = setInterval(() => {
    for (const lease of leases) {
      if (counts(lease.grant)) continue;
      leases.delete(lease);
      try {
        lease.end();
      } catch {
        // One that cannot be ended keeps no other open, and does not end the process.
      }
    }
  }, everyMs);
  timer.unref();
  return {
    add: (lease) => void leases.add(lease),
    remove: (lease) => void leases.delete(lease),
    get size() {
      return leases.size;
    },
    stop: () => clearInterval(timer),
  };
}

/** A ground that cannot be looked at is none. */
function counts(grant: Grant): boolean {
  try {
    return grant.isValid();
  } catch {
    return false;
  }
}
