import type { Revocation } from "@countersign/capability";
import { PAGE } from "./shared-revocations.js";
import type { SharedRevocations } from "./shared-revocations.js";

/** Milliseconds between two looks: a revocation made elsewhere counts here within a second. */
const LOOK_MS = 500;

/** What other gateways revoked, as far as this one has heard. */
export type FollowedRevocations = {
  /** Whether the last look failed: something may have been revoked that is not known here. */
  readonly isStale: boolean;
  stop(): Promise<void>;
};

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
export async function followRevocations(
  shared: Pick<SharedRevocations, "readAfter">,
  { onRevoked, onStale }: RevocationListener,
  everyMs: number = LOOK_MS,
): Promise<FollowedRevocations> {
  let last = 0;
  let isStale = false;
  let isStopped = false;
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const takeOver = async (): Promise<void> => {
    for (;;) {
      const page = await shared.readAfter(last);
      for (const { serial, revocation } of page) {
        onRevoked(revocation);
        last = serial;
      }
      if (page.length < PAGE || isStopped) return;
    }
  };
  const settle = (failed: boolean): void => {
    if (failed === isStale || isStopped) return;
    isStale = failed;
    onStale(failed);
  };
  const look = async (): Promise<void> => {
    try {
      await takeOver();
      settle(false);
    } catch {
      // What comes back may be a copy that lacks the newest numbers and gives them out again.
      last = 0;
      settle(true);
    }
  };
  const wait = (): void => {
    if (isStopped) return;
    // After the look before: a slow database is asked one thing at a time.
    timer = setTimeout(() => {
      looking = look().finally(wait);
    }, everyMs);
    timer.unref();
  };

  await takeOver();
  wait();
  return {
    get isStale() {
      return isStale;
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
