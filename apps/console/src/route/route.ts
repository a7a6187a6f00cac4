import { useSyncExternalStore } from "react";

/** A page with its path and its filter. */
export type Route = {
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
};

/** Reads `#/page/part?filter=…`; what cannot be decoded is taken as it stands. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = splitOnce(hash.replace(/^#\/?/u, ""), "?");
  const parts = path === "" ? ["overview"] : path.split("/").map(decode);
  return { parts, query: new URLSearchParams(query) };
}

/** Writes the address of a place in the console; filters without a value are left out. */
export function hrefOf(
  parts: readonly (string | number)[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const filled = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== "",
  );
  const path = parts.map((part) => encodeURIComponent(part)).join("/");
  const search = new URLSearchParams(filled).toString();
  return `#/${path}${search === "" ? "" : `?${search}`}`;
}

/** Goes somewhere; the way back leads here. */
export function go(href: string): void {
  location.hash = href;
}

/** Changes the address of where we are, without a step on the way back. */
export function rewrite(href: string): void {
  history.replaceState(undefined, "", href);
  for (const listener of listeners) listener();
}

const listeners = new Set<() => void>();
let last: { hash: string; route: Route } | undefined;

function current(): Route {
  const { hash } = location;
  if (last?.hash !== hash) last = { hash, route: parseRoute(hash) };
  return last.route;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener("hashchange", listener);
  return () => {
    listeners.delete(listener);
    removeEventListener("hashchange", listener);
  };
}

/** The current route, for a component. */
export function useRoute(): Route {
  return useSyncExternalStore(subscribe, current);
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
