/** How many events wait for their receipt; the reader of the agent's stream pauses when it is too many. */
export type Backlog = {
  readonly size: number;
  set(size: number): void;
  /** Resolves when fewer than the limit wait. */
  roomBelow(limit: number): Promise<void>;
};

/** Makes a backlog that is empty. */
export function createBacklog(): Backlog {
  let current = 0;
  let waiter: { limit: number; resolve: () => void } | undefined;
  return {
    get size() {
      return current;
    },
    set: (size) => {
      current = size;
      if (waiter !== undefined && current < waiter.limit) {
        const { resolve } = waiter;
        waiter = undefined;
        resolve();
      }
    },
    roomBelow: (limit) =>
      current < limit
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiter = { limit, resolve };
          }),
  };
}
