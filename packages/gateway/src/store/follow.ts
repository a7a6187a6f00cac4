/** Milliseconds between two looks: what happens at another gateway counts here within a second. */
const LOOK_MS = 500;

/** A table to which entries are added with ever higher numbers. */
export type Followed<Entry extends { readonly serial: number }> = {
  /** What came behind this place, oldest first, at most `page`; 0 is before the first. */
  readAfter(serial: number): Promise<readonly Entry[]>;
  /** Entries read in one go. */
  readonly page: number;
};

/** What happens with what is found. */
export type FollowListener<Entry> = {
  /** Told of each, some of them more than once. */
  onEntry(entry: Entry): void;
  /** Told when a look fails after one that did not, and the other way round. */
  onStale(isStale: boolean): void;
};

/** Looks until it is stopped. */
export type Following = {
  /** Whether the last look failed: something may be there that is not known here. */
  readonly isStale: boolean;
  stop(): Promise<void>;
};

/**
 * Takes over all that is there, and resolves; from then on looks for what is new.
 *
 * @throws whatever the first look fails with
 */
export async function follow<Entry extends { readonly serial: number }>(
  { readAfter, page }: Followed<Entry>,
  { onEntry, onStale }: FollowListener<Entry>,
  everyMs: number = LOOK_MS,
): Promise<Following> {
  let last = 0;
  let isStale = false;
  let isStopped = false;
  let looking: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const takeOver = async (): Promise<void> => {
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
