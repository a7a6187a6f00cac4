/** Lines of one kind that are written per window before the rest is only counted. */
const MAX_PER_WINDOW = 10;
const WINDOW_MS = 10_000;
/** Kinds told apart; beyond, all others share one allowance. */
const MAX_KINDS = 256;

type Kind = { startedAt: number; written: number; skipped: number };

/** Bounds how often the same is said: whoever can make us refuse could otherwise fill the disk. */
export type Repeats = {
  /** `undefined` to keep the line back, else how many like it were kept back since the last one. */
  admit(kind: string, now: number): number | undefined;
  /** Lines kept back so far. */
  readonly suppressed: number;
};

/** Starts with nothing said. */
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
      // A clock that was set back starts a new window too, rather than silence until it has caught up.
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
