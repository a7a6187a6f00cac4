/** Arranges for `flush` to be called once, soon; returns how to call it off. */
export type Schedule = (flush: () => void) => () => void;

/** A hidden page draws no frames, and must still get what arrived. */
const HIDDEN_MS = 250;
const FRAME_MS = 16;

/** Once per drawn frame in a browser, once per 16 ms elsewhere. */
export const onNextFrame: Schedule = (flush) => {
  if (typeof requestAnimationFrame !== "function") {
    const timer = setTimeout(flush, FRAME_MS);
    return () => clearTimeout(timer);
  }
  const cancel = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  const run = (): void => {
    cancel();
    flush();
  };
  const frame = requestAnimationFrame(run);
  const timer = setTimeout(run, HIDDEN_MS);
  return cancel;
};
