const BASE = "http://gateway.invalid";

/** The address a request names, or `undefined` when it names none that can be read. */
export function requestUrl(raw: string | undefined): URL | undefined {
  const path = raw ?? "/";
  // Only the path counts: `//host` and absolute forms would otherwise be read as another origin.
  const text = path.startsWith("/") ? `${BASE}${path}` : path;
  if (!URL.canParse(text)) return undefined;
  const { pathname, search } = new URL(text);
  return URL.canParse(`${BASE}${pathname}${search}`)
    ? new URL(`${BASE}${pathname}${search}`)
    : undefined;
}
