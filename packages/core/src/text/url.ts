/**
 * The URL of a text, relative to `base` if given; undefined when the text is not a URL.
 *
 * Not `URL.canParse`: once V8 has optimized the call, Node 20 and 22 return wrong results for
 * letters beyond ASCII.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
