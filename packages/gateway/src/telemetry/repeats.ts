/** Lines of one kind written per window; the rest is only counted. */
const MAX_PER_WINDOW = 10;
const WINDOW_MS = 10_000;
/** Maximum number of kinds; all others share one allowance. */
const MAX_KINDS = 256;

type Kind = { startedAt: number; written: number; skipped: number };

/** Limits repeated lines: a client that causes errors could otherwise fill the disk. */
export type Repeats = {
  /** `undefined` to suppress the line, else the number of lines suppressed since the last one. */
  admit(kind: string, now: number): number | undefined;
  /** Lines suppressed so far. */
  readonly suppressed: number;
};

/** Creates an empty limiter. */
export function createRepeats(): Repeats {
  const kinds = new Map<string, Kind>();
  let suppressed = 0;
  const find = (name: string, now: number): Kind => {
    const key = kinds.has(name) || kinds.size < MAX_KINDS ? name : "";
    let kind = kinds.get(key);
    if (kind === undefined) {
      kind = { startedAt: now, written: 0, skipped: 0 };
      kinds.set(key, kind);
    }
    return kind;
  };
  return {
    admit(name, now) {
      const kind = find(name, now);
      // A clock that was set back starts a new window too, instead of silence until it has caught
      // up.
      if (now - kind.startedAt >= WINDOW_MS || now < kind.startedAt) {
        kind.startedAt = now;
        kind.written = 0;
      }
      if (kind.written >= MAX_PER_WINDOW) {
        kind.skipped += 1;
        suppressed += 1;
        return undefined;
      }
      kind.written += 1;
      const { skipped } = kind;
      kind.skipped = 0;
      return skipped;
    },
    get suppressed() {
      return suppressed;
    },
  };
}
