/** Milliseconds of work on agents' streams after which the event loop may look at everybody else. */
const TURN_MS = 5;

/**
 * Divides the work on all streams into turns of the event loop.
 *
 * A chunk of small events is milliseconds of work. With 90 agents that flood, all of them readable at once,
 * one pass of the loop took 2.4 s, and a health check waited that long. Past its share, a stream waits in line,
 * and in each pass the line goes on until that pass has done its share. Many streams with one small event each
 * share a pass: a pass for each of them cost more than the event, and sent each to the log by itself.
 */
export type Turns = {
  /** Whether this pass has done its share; asking begins one. */
  isSpent(): boolean;
  /** Resolves when it is this stream's turn. */
  next(): Promise<void>;
  /** Says that a stream has done its work: while the pass has time left, the next in line goes on. */
  passOn(): void;
};

/** Makes the turns of one event loop. */
export function createTurns(now: () => number = () => performance.now()): Turns {
  const line: (() => void)[] = [];
  let isOpen = false;
  let startedAt = 0;
  const begin = (): void => {
    isOpen = true;
    startedAt = now();
    setImmediate(close);
  };
  const close = (): void => {
    isOpen = false;
    const first = line.shift();
    if (first === undefined) return;
    begin();
    first();
  };
  return {
    isSpent: () => {
      if (line.length > 0) return true;
      if (isOpen) return now() - startedAt >= TURN_MS;
      begin();
      return false;
    },
    next: () =>
      new Promise((resolve) => {
        line.push(resolve);
        if (!isOpen) begin();
      }),
    passOn: () => {
      if (isOpen && now() - startedAt < TURN_MS) line.shift()?.();
    },
  };
}
