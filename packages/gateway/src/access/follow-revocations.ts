import type { Revocation } from "@countersign/capability";
import { follow } from "../store/follow.js";
import type { Following } from "../store/follow.js";
import { PAGE } from "./shared-revocations.js";
import type { SharedRevocations } from "./shared-revocations.js";

/** Receives the revocations of all gateways. */
export type RevocationListener = {
  /** Called for each revocation, for some of them more than once. */
  onRevoked(revocation: Revocation): void;
  /** Called when a read fails after a successful one, and when reads succeed again. */
  onStale(isStale: boolean): void;
};

/**
 * Reads all existing revocations, resolves, and then polls for new ones.
 *
 * @throws CountersignError `ERR_REVOCATIONS_UNAVAILABLE` when the first read fails
 */
export function followRevocations(
  shared: Pick<SharedRevocations, "readAfter">,
  { onRevoked, onStale }: RevocationListener,
  everyMs?: number,
): Promise<Following> {
  return follow(
    { readAfter: (serial) => shared.readAfter(serial), page: PAGE },
    { onEntry: ({ revocation }) => onRevoked(revocation), onStale },
    everyMs,
  );
}
