/** Milliseconds between two polls: a change at another gateway takes effect here within a second. */
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
  stop(): Promise<void>;
};

/**
 * Reads all entries and resolves; then polls for new ones.
 *
 * @throws the error of the first read
 */
export async function follow<Entry extends { readonly serial: number }>(
  { readAfter, page }: Followed<Entry>,
  { onEntry, onStale }: FollowListener<Entry>,
  everyMs: number = POLL_MS,
): Promise<Following> {
  let last = 0;
  let isStale = false;
  let isStopped = false;
  let polling: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const readNew = async (): Promise<void> => {
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
  const poll = async (): Promise<void> => {
    try {
      await readNew();
      settle(false);
    } catch {
      // After an outage the database may be a restored backup, which gives out the newest numbers again.
      last = 0;
      settle(true);
    }
  };
  const wait = (): void => {
    if (isStopped) return;
    // Scheduled after the last poll has ended: a slow database gets one query at a time.
    timer = setTimeout(() => {
      polling = poll().finally(wait);
    }, everyMs);
    timer.unref();
  };

  await readNew();
  wait();
  return {
    get isStale() {
      return isStale;
    },
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await polling;
    },
  };
}
