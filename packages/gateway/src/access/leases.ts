import type { Grant } from "./access.js";

/** Milliseconds between two checks of the open leases: how late a lease may end. */
const CHECK_MS = 500;

/** An open stream or socket and its grant. `end` is called once, when the grant is no longer valid. */
export type Lease = { readonly grant: Grant; end(): void };

/** The open leases; each ends when its grant becomes invalid. */
export type Leases = {
  add(lease: Lease): void;
  /** Removes a lease that ended by itself. */
  remove(lease: Lease): void;
  readonly size: number;
  stop(): void;
};

/** Starts the periodic check. One timer serves all leases, since a timer each would cost memory per idle stream. */
export function createLeases(everyMs: number = CHECK_MS): Leases {
  const leases = new Set<Lease>();
  const timer = setInterval(() => {
    for (const lease of leases) {
      if (isValid(lease.grant)) continue;
      leases.delete(lease);
      try {
        lease.end();
      } catch {
        // A lease that fails to end keeps no other open, and does not end the process.
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

/** A grant that cannot be checked is not valid. */
function isValid(grant: Grant): boolean {
  try {
    return grant.isValid();
  } catch {
    return false;
  }
}
