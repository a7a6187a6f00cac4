import { parseUrl } from "@countersign/core";

const BASE = "http://gateway.invalid";
// Only the path is used: `//host` and absolute forms would otherwise be parsed as another origin.
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * The URL of a request, or `undefined` if it is invalid.
 *
 * Only the normal form of a path is accepted (not `/x/../ag-ui/run`, `/ag-ui\run` or `/ag-ui/run#`): a proxy in front
 * that decides by the path may have parsed another one.
 */
export function requestUrl(raw: string | undefined): URL | undefined {
  const text = (raw ?? "/").replace(ORIGIN, "");
  if (!text.startsWith("/") || text.includes("#")) return undefined;
  const url = parseUrl(`${BASE}${text}`);
  return url?.pathname === text.split("?", 1)[0] ? url : undefined;
}
