/** Takes text piece by piece and returns the text to show; `end` returns the rest. */
export type TextScrubber = {
  push(text: string): string;
  end(): string;
};

/** The matches that a scrubber removes. */
export type ScrubSpec = {
  readonly literals?: readonly string[];
  readonly patterns?: readonly RegExp[];
  /** The longest match of a pattern: this much text is held back. Default 256. */
  readonly maxMatchLength?: number;
  /** The replacement of a match. Default `[redacted]`. */
  readonly replacement?: string;
};

/**
 * Creates scrubbers whose output does not depend on how the text is split: a possible start of a
 * match is held back until it is decided.
 *
 * @throws TypeError when a literal is empty or a pattern matches the empty string
 */
export function createScrubberFactory(spec: ScrubSpec): () => TextScrubber {
  const literals = [...(spec.literals ?? [])];
  const patterns = spec.patterns ?? [];
  if (literals.includes("")) throw new TypeError("an empty literal is in every text");
  for (const pattern of patterns) {
    if (new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, "")).test("")) {
      throw new TypeError("a pattern that matches the empty string is in every text");
    }
  }
  // Longest first: an alternation uses the first alternative that matches.
  const alternatives = literals.sort((a, b) => b.length - a.length).map(escapeRegExp);
  const search = [
    ...(alternatives.length > 0 ? [new RegExp(alternatives.join("|"), "g")] : []),
    ...patterns.map(
      (pattern) => new RegExp(pattern.source, `${pattern.flags.replaceAll(/[gy]/g, "")}g`),
    ),
  ];
  const window =
    patterns.length > 0
      ? Math.max(spec.maxMatchLength ?? 256, ...literals.map((l) => l.length))
      : 0;
  const replacement = spec.replacement ?? "[redacted]";
  return () => new Scrubber(literals, search, window, replacement);
}

/** Scrubs one whole text. */
export function scrubText(text: string, create: () => TextScrubber): string {
  const scrubber = create();
  return scrubber.push(text) + scrubber.end();
}

class Scrubber implements TextScrubber {
  readonly #literals: readonly string[];
  readonly #search: readonly RegExp[];
  readonly #window: number;
  readonly #replacement: string;
  #held = "";

  constructor(
    literals: readonly string[],
    search: readonly RegExp[],
    window: number,
    replacement: string,
  ) {
    this.#literals = literals;
    this.#search = search;
    this.#window = window;
    this.#replacement = replacement;
  }

  push(text: string): string {
    this.#held += text;
    return this.#release(this.#held.length - this.#undecided());
  }

  end(): string {
    return this.#release(this.#held.length);
  }

  /** Returns the text before `cut`; a match that starts there is removed completely. */
  #release(cut: number): string {
    let shown = "";
    let position = 0;
    const found: Found[] = this.#search.map(() => undefined);
    while (position < cut) {
      const match = this.#next(position, found);
      if (match === undefined || match.start >= cut) {
        shown += this.#held.slice(position, cut);
        position = cut;
      } else {
        shown += this.#held.slice(position, match.start) + this.#replacement;
        position = match.end;
      }
    }
    this.#held = this.#held.slice(position);
    return shown;
  }

  /** Each search result is kept until the text has passed it: no search is repeated. */
  #next(from: number, found: Found[]): Match | undefined {
    let best: Match | undefined;
    for (const [index, pattern] of this.#search.entries()) {
      let match = found[index];
      if (match === undefined || (match !== null && match.start < from)) {
        match = found[index] = matchFrom(pattern, this.#held, from);
      }
      if (match === null) continue;
      if (best === undefined || match.start < best.start) best = match;
      else if (match.start === best.start && match.end > best.end) best = match;
    }
    return best;
  }

  /** The number of characters at the end that could start a match. */
  #undecided(): number {
    if (this.#window > 0) return Math.min(this.#held.length, this.#window - 1);
    return Math.max(0, ...this.#literals.map((literal) => this.#undecidedBy(literal)));
  }

  #undecidedBy(literal: string): number {
    const held = this.#held;
    const first = literal.charAt(0);
    let start = held.indexOf(first, Math.max(0, held.length - literal.length + 1));
    while (start >= 0) {
      if (literal.startsWith(held.slice(start))) return held.length - start;
      start = held.indexOf(first, start + 1);
    }
    return 0;
  }
}

type Match = { readonly start: number; readonly end: number };
/** Not searched yet, nothing found, or the next match. */
type Found = Match | null | undefined;

function matchFrom(pattern: RegExp, text: string, from: number): Match | null {
  pattern.lastIndex = from;
  const found = pattern.exec(text);
  if (found === null || found[0] === "") return null;
  return { start: found.index, end: found.index + found[0].length };
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
