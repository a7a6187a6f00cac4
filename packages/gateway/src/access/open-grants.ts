import type { Grant } from "./access.js";

/** Milliseconds between two checks of the open openGrants: how late a open may end. */
const CHECK_MS = 500;

/** An open stream or socket and its grant. `end` is called once, when the grant is no longer valid. */
export type OpenGrant = { readonly grant: Grant; end(): void };

/** The open openGrants; each ends when its grant becomes invalid. */
export type OpenGrants = {
  add(open: OpenGrant): void;
  /** Removes a open that ended by itself. */
  remove(open: OpenGrant): void;
  readonly size: number;
  stop(): void;
};

/** Starts the periodic check. One timer serves all openGrants, since a timer each would cost memory per idle stream. */
export function createOpenGrants(everyMs: number = CHECK_MS): OpenGrants {
  const openGrants = new Set<OpenGrant>();
  const timer = setInterval(() => {
    for (const open of openGrants) {
      if (isValid(open.grant)) continue;
      openGrants.delete(open);
      try {
        open.end();
      } catch {
        // A open that fails to end keeps no other open, and does not end the process.
      }
    }
  }, everyMs);
  timer.unref();
  return {
    add: (open) => void openGrants.add(open),
    remove: (open) => void openGrants.delete(open),
    get size() {
      return openGrants.size;
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
