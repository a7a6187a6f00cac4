const OPEN = new Set(["[", "{"]);
const CLOSE = new Set(["]", "}"]);

/**
 * An upper bound of the nesting of a YAML text, found without parsing it. The parser is recursive,
 * so the bound must be known before it runs.
 *
 * Counts open brackets, and on each line the compact indicators (`- - -`, `? ? ?`) plus the
 * indentation that block nesting needs. Brackets inside strings count too: the estimate may reject
 * an unusual document, but never misses a deep one.
 */
export function estimateNesting(text: string): number {
  let brackets = 0;
  let deepest = 0;
  let indents: number[] = [];
  for (const line of text.split("\n")) {
    const content = line.trimStart();
    const indent = line.length - content.length;
    if (content !== "" && !content.startsWith("#")) {
      indents = indents.filter((column) => column < indent);
      indents.push(indent);
      const compact = /^(?:[-?:][ \t]+)+/.exec(content)?.[0] ?? "";
      const markers = compact.replaceAll(/[ \t]/g, "").length;
      let high = brackets;
      for (const character of content) {
        if (OPEN.has(character)) brackets += 1;
        else if (CLOSE.has(character) && brackets > 0) brackets -= 1;
        if (brackets > high) high = brackets;
      }
      deepest = Math.max(deepest, high + indents.length + markers);
    }
  }
  return deepest;
}

/** The estimated parser work for a text, counted before it starts. */
export type TextEstimate = {
  /** Positions where a value can start: after a comma, a line break or an opening bracket. */
  readonly values: number;
  /**
   * Those, and every syntax character: a line of syntax characters costs as much as a large file.
   */
  readonly marks: number;
};

/** Counts the units of parser work; each takes about 30 µs. */
export function estimateWork(text: string): TextEstimate {
  let values = 1;
  let marks = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (VALUE_STARTS.has(code)) values += 1;
    if (MARKS.has(code)) marks += 1;
  }
  return { values, marks: marks + values };
}

const codes = (characters: string): ReadonlySet<number> =>
  new Set(Array.from(characters, (character) => character.charCodeAt(0)));

const VALUE_STARTS = codes(",\n[{");
const MARKS = codes(":&*!?\r");
