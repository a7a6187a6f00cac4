/** Milliseconds of work on agents' streams after which the event loop handles other work. */
const TURN_MS = 5;

/**
 * The queue of streams that have work to do.
 *
 * Streams that become readable in one pass of the event loop queue up, and are then processed one after another. Their events are judged
 * and logged together while the shared code and data are in the cache. An event alone in its pass costs several times as much.
 *
 * After its share of a pass the queue waits for the next one. A chunk of small events is milliseconds of work: with 90 agents that flood,
 * all readable at once, one pass took 2.4 s, and a health check waited that long.
 */
export type Turns = {
  /** Queues work; the queue calls it when its turn comes. */
  ask(work: () => void): void;
};

/** Creates the queue of one event loop. */
export function createTurns(now: () => number = () => performance.now()): Turns {
  let line: (() => void)[] = [];
  let isOpen = false;
  const pass = (): void => {
    const until = now() + TURN_MS;
    const works = line;
    line = [];
    let done = 0;
    try {
      while (done < works.length) {
        (works[done++] as () => void)();
        if (now() >= until) break;
      }
    } finally {
      // Work that was queued meanwhile comes after the work that was already waiting.
      if (done < works.length) line = [...works.slice(done), ...line];
      isOpen = line.length > 0;
      if (isOpen) setImmediate(pass);
    }
  };
  return {
    ask: (work) => {
      line.push(work);
      if (isOpen) return;
      isOpen = true;
      setImmediate(pass);
    },
  };
}
