import type { Grant } from "./access.js";

/** Milliseconds between two checks: how late a stream may end. */
const CHECK_MS = 500;

/** An open stream or socket and its grant. `end` is called once, when the grant is no longer valid. */
export type OpenGrant = { readonly grant: Grant; end(): void };

/** The grants of open streams and sockets; each of these ends when its grant becomes invalid. */
export type OpenGrants = {
  add(open: OpenGrant): void;
  /** Removes the grant of a stream that ended by itself. */
  remove(open: OpenGrant): void;
  readonly size: number;
  stop(): void;
};

/** Starts the periodic check. One timer serves all, since a timer each would cost memory per idle stream. */
export function createOpenGrants(everyMs: number = CHECK_MS): OpenGrants {
  const all = new Set<OpenGrant>();
  const timer = setInterval(() => {
    for (const open of all) {
      if (isValid(open.grant)) continue;
      all.delete(open);
      try {
        open.end();
      } catch {
        // A stream that fails to end keeps no other open, and does not end the process.
      }
    }
  }, everyMs);
  timer.unref();
  return {
    add: (open) => void all.add(open),
    remove: (open) => void all.delete(open),
    get size() {
      return all.size;
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
