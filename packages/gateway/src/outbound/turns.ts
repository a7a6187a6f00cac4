/** Milliseconds of work on agents' streams after which the event loop may look at everybody else. */
const TURN_MS = 5;

/**
 * The line in which the streams that have something to do wait for their turn.
 *
 * Everything that one pass of the event loop brings stands in line until all of it has come, and is then worked
 * on in one go: streams whose events come together are judged together and asked of the log together, while
 * the code and data that they share are at hand (an event alone in its pass costs several times as much).
 *
 * After its share of a pass the line waits for the next one. A chunk of small events is milliseconds of work: with
 * 90 agents that flood, all of them readable at once, one pass took 2.4 s, and a health check waited that long.
 */
export type Turns = {
  /** Stands in line; called back when it is its turn. */
  ask(work: () => void): void;
};

/** Makes the turns of one event loop. */
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
      // Whoever asked again meanwhile stands behind those who were in line already.
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
