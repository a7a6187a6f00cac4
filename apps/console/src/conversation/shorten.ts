/** Characters of one text of an interface that are displayed; the payload has the rest. */
const MAX_TEXT = 300;

/** The beginning of a long text, with its length. */
export function shorten(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  return `${text.slice(0, MAX_TEXT)}… (${text.length.toLocaleString("en")} characters)`;
}
