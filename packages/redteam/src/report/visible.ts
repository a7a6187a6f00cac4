// Characters that a page or a terminal would interpret or hide: controls, zero-width, bidirectional and tag
// characters, lone surrogates, line and paragraph separators.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Text whose invisible characters are written out, so that captured traffic cannot change what is read. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character === "\n" || character === "\t"
      ? character
      : `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`,
  );
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["&", "&amp;"],
  ["<", "&lt;"],
  [">", "&gt;"],
  ['"', "&quot;"],
  ["'", "&#39;"],
]);

/** Text for HTML and XML, in content and in quoted attributes. */
export function escapeMarkup(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => ENTITIES.get(character) ?? "");
}
