import { readFileSync } from "node:fs";

/** The page of an error code. */
export type ErrorPage = { readonly cause: string; readonly remedy: string };

// Made of docs/errors, and held against it, by scripts/check-errors.mjs.
const TABLE = new URL("../../../assets/errors.json", import.meta.url);

/** Cause and remedy of a code, as in docs/errors; `undefined` for an unknown code. */
export function pageOf(code: string): ErrorPage | undefined {
  const table = JSON.parse(readFileSync(TABLE, "utf8")) as Record<string, ErrorPage>;
  return Object.hasOwn(table, code) ? table[code] : undefined;
}
