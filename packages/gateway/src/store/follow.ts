import { poll } from "./signals.js";
import type { Wake } from "./signals.js";

/** Milliseconds between two polls without signals: a change at another gateway takes effect here within a second. */
const POLL_MS = 500;

/** A table whose new entries get increasing numbers. */
export type Followed<Entry extends { readonly serial: number }> = {
  /** Entries after this number, oldest first, at most `page`; 0 is before the first. */
  readAfter(serial: number): Promise<readonly Entry[]>;
  /** Entries per query. */
  readonly page: number;
};

/** Callbacks of {@link follow}. */
export type FollowListener<Entry> = {
  /** Called for each entry, for some more than once. */
  onEntry(entry: Entry): void;
  /** Called when a poll fails after a successful one, and when one succeeds after a failed one. */
  onStale(isStale: boolean): void;
};

/** Polls until it is stopped. */
export type Following = {
  /** True when the last poll failed: there may be entries that are not known here. */
  readonly isStale: boolean;
  /** Reads all entries again, because the table may have lost its own and begun again with the lowest number. */
  restart(): void;
  stop(): Promise<void>;
};

/**
 * Reads all entries and resolves; then polls for new ones, with `wake` as soon as another gateway signals them.
 *
 * @throws the error of the first read
 */
export async function follow<Entry extends { readonly serial: number }>(
  { readAfter, page }: Followed<Entry>,
  { onEntry, onStale }: FollowListener<Entry>,
  { everyMs = POLL_MS, wake }: { readonly everyMs?: number; readonly wake?: Wake | undefined } = {},
): Promise<Following> {
  let last = 0;
  let isStale = false;
  let isStopped = false;
  let isRestarted = false;

  const readNew = async (): Promise<void> => {
    // Not at the call of `restart`: a read under way would set the number again.
    if (isRestarted) last = 0;
    isRestarted = false;
    for (;;) {
      const entries = await readAfter(last);
      for (const entry of entries) {
        onEntry(entry);
        last = entry.serial;
      }
      if (entries.length < page || isStopped) return;
    }
  };
  const settle = (failed: boolean): void => {
    if (failed === isStale || isStopped) return;
    isStale = failed;
    onStale(failed);
  };
  const read = async (): Promise<boolean> => {
    try {
      await readNew();
      settle(false);
      return true;
    } catch {
      // After an outage the database may be a restored backup, which gives out the newest numbers again.
      last = 0;
      settle(true);
      return false;
    }
  };
  await readNew();
  const polling = poll(read, everyMs, wake);
  return {
    get isStale() {
      return isStale;
    },
    restart: () => {
      isRestarted = true;
      polling.wake();
    },
    stop: async () => {
      isStopped = true;
      await polling.stop();
    },
  };
}
