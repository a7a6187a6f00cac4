import type { Revocation } from "@countersign/capability";
import { follow } from "../store/follow.js";
import type { Following } from "../store/follow.js";
import { PAGE } from "./shared-revocations.js";
import type { SharedRevocations } from "./shared-revocations.js";

/** What happens with what is heard. */
export type RevocationListener = {
  /** Told of each, some of them more than once. */
  onRevoked(revocation: Revocation): void;
  /** Told when a look fails after one that did not, and the other way round. */
  onStale(isStale: boolean): void;
};

/**
 * Takes over all that was revoked so far, and resolves; from then on looks for what is new.
 *
 * @throws CountersignError `ERR_REVOCATIONS_UNAVAILABLE` when even the first look fails
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
