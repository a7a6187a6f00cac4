import { parseUrl } from "@countersign/core";

const BASE = "http://gateway.invalid";
// Only the path counts: `//host` and absolute forms would otherwise be read as another origin.
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * The address a request names, or `undefined` when it names none that can be read.
 *
 * Of several spellings of one path (`/x/../ag-ui/run`, `/ag-ui\run`, `/ag-ui/run#`) only the plain one is read: a proxy
 * in front that decides by the path may have read another.
 */
export function requestUrl(raw: string | undefined): URL | undefined {
  const text = (raw ?? "/").replace(ORIGIN, "");
  if (!text.startsWith("/") || text.includes("#")) return undefined;
  const url = parseUrl(`${BASE}${text}`);
  return url?.pathname === text.split("?", 1)[0] ? url : undefined;
}
