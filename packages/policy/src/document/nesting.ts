const OPEN = new Set(["[", "{"]);
const CLOSE = new Set(["]", "}"]);

/**
 * An upper bound on the nesting of a YAML text, found without parsing it.
 *
 * The parser is recursive, so the bound has to be known before it runs. Counts open brackets, and on
 * each line the compact indicators (`- - -`, `? ? ?`) plus the indentation that block nesting needs.
 * Brackets inside strings count too: the estimate may refuse a strange document, never miss a deep one.
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

/**
 * Places in a text where a value can begin: after a comma, a line break or an opening bracket. Counted
 * before the parser starts, because it takes about 30 µs for each value.
 */
export function estimateValues(text: string): number {
  let separators = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === COMMA || code === LINE_FEED || code === BRACKET || code === BRACE) separators += 1;
  }
  return separators;
}

const COMMA = 44;
const LINE_FEED = 10;
const BRACKET = 91;
const BRACE = 123;
