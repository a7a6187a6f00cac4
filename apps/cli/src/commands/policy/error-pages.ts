import { readFileSync } from "node:fs";
import { referPages } from "../../output/pages.js";

/** The page of an error code. */
type ErrorPage = {
  readonly cause: string;
  readonly remedy: string;
  /** The messages of errors with this code, with `{}` for each value. */
  readonly says: readonly string[];
};

// Made of docs/errors and the sources, and held against them, by scripts/check-errors.mjs.
const TABLE = new URL("../../../assets/errors.json", import.meta.url);

let pages: Readonly<Record<string, ErrorPage>> | undefined;

function errorPages(): Readonly<Record<string, ErrorPage>> {
  pages ??= JSON.parse(readFileSync(TABLE, "utf8")) as Record<string, ErrorPage>;
  return pages;
}

/** Cause and remedy of a code, as in docs/errors; `undefined` for an unknown code. */
export function pageOf(code: string): ErrorPage | undefined {
  const table = errorPages();
  const page = Object.hasOwn(table, code) ? table[code] : undefined;
  if (page === undefined) return undefined;
  return { ...page, cause: referPages(page.cause), remedy: referPages(page.remedy) };
}

/** The code whose page has this very sentence. */
export function codeOfSentence(sentence: string): string | undefined {
  const text = plain(sentence);
  return Object.entries(errorPages()).find(([, { cause, remedy, says }]) =>
    [cause, remedy, referPages(cause), referPages(remedy), ...says].some(
      (known) => plain(known) === text,
    ),
  )?.[0];
}

/** The code whose message fits a sentence with values in it; the longest message decides. */
export function codeOfMessage(sentence: string): string | undefined {
  const found = Object.entries(errorPages()).flatMap(([code, { says }]) =>
    says.flatMap((message) => {
      const parts = plain(message).split("{}");
      const length = parts.join("").length;
      return fits(parts, plain(sentence)) ? [{ code, length }] : [];
    }),
  );
  return found.toSorted((one, other) => other.length - one.length)[0]?.code;
}

/** Whether a text is made of these parts, in order, with any values between them. */
function fits(parts: readonly string[], text: string): boolean {
  let from = 0;
  for (const [index, part] of parts.entries()) {
    const at = index === parts.length - 1 ? text.length - part.length : text.indexOf(part, from);
    if (at < from || !text.startsWith(part, at) || (index === 0 && at !== 0)) return false;
    from = at + part.length;
  }
  return from === text.length;
}

/** A sentence without marks of code and its last period. */
export function plain(sentence: string): string {
  return sentence.replaceAll("`", "").trim().replace(/\.$/u, "");
}
