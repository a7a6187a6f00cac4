/** Shows how far long work has come. */
export type Progress = { update(done: number): void; finish(): void };

const INTERVAL_MS = 100;

/** A line that counts up on a terminal; in a pipe it stays quiet. */
export function createProgress(label: string, total: number): Progress {
  const { stderr } = process;
  if (!stderr.isTTY) return { update: () => {}, finish: () => {} };
  let last = 0;
  return {
    update: (done) => {
      const now = Date.now();
      if (now - last < INTERVAL_MS && done < total) return;
      last = now;
      const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
      stderr.write(`\r${label} ${percent.toString().padStart(3)} %  ${done} of ${total}`);
    },
    finish: () => stderr.write("\r\x1b[K"),
  };
}
