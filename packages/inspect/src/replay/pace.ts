/** Waits until a recorded time, relative to the first call; `Infinity` never waits. */
export function createPace(speed = 1): (atMs: number) => Promise<void> {
  if (!(speed > 0)) throw new TypeError("speed must be above 0");
  let began: number | undefined;
  let first = 0;
  return async (atMs) => {
    if (speed === Infinity) return;
    if (began === undefined) {
      began = performance.now();
      first = atMs;
    }
    const wait = (atMs - first) / speed - (performance.now() - began);
    if (wait > 1) await new Promise((done) => setTimeout(done, wait));
  };
}
