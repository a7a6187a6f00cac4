/** Whether this is `npm run test:faults`, which takes its time. */
export const IS_THOROUGH = process.env["COUNTERSIGN_FAULTS"] === "thorough";

/** Whether tests that wait for minutes of real time may do so (`LONG=1 npm run test:faults`). */
export const IS_PATIENT = process.env["LONG"] === "1";

/** One amount for `npm test`, another for the thorough run. */
export function scaled(quick: number, thorough: number): number {
  return IS_THOROUGH ? thorough : quick;
}

/** The number that a seeded test starts from; `SEED=` repeats a run. */
export function chooseSeed(): number {
  const given = Number(process.env["SEED"]);
  if (Number.isSafeInteger(given) && given > 0) return given;
  return 1 + Math.floor(Math.random() * 0x7fff_fffe);
}

/** Waits, and says why in the code that calls it. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** Asks again and again until the answer is yes. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 20_000,
): Promise<void> {
  const started = Date.now();
  while (!(await holds())) {
    if (Date.now() - started > withinMs) {
      throw new Error(`after ${withinMs} ms it is still not so that ${what}`);
    }
    await pause(20);
  }
}

/** A figure for the reader of the thorough run; `npm test` stays quiet. */
export function report(line: string): void {
  if (IS_THOROUGH) process.stderr.write(`    ${line}\n`);
}
