/** The SIGHUPs of a process. */
export type Hangups = {
  /** Calls back at each from now on, and at once if any came before. */
  follow(onHangup: () => void): void;
};

/** Listens from now on: without a listener, one that comes while the gateway starts would end the process. */
export function listenToHangups(): Hangups {
  let isAsked = false;
  let react = (): void => {
    isAsked = true;
  };
  process.on("SIGHUP", () => react());
  return {
    follow: (onHangup) => {
      react = onHangup;
      if (isAsked) onHangup();
    },
  };
}
