// Colours of our own, and each character that a terminal would obey instead of show.
const UNSHOWN = /\p{Cc}\[(?:[12]|22|3\d)m|[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const KEPT: ReadonlySet<string> = new Set(["\n", "\t"]);

/**
 * Lines in which only our colours are left of what a terminal obeys. Verbs write out names of others' themselves, for a
 * name must not make a line of its own; here the rest is caught, whatever file or peer it came from.
 */
export function shownLines(text: string): string {
  return text.replace(UNSHOWN, (found) => {
    if (KEPT.has(found) || (found.length > 1 && found.startsWith("\u001b["))) return found;
    const [first = ""] = found;
    return `\\u{${(first.codePointAt(0) ?? 0).toString(16)}}${found.slice(first.length)}`;
  });
}

/** Writes one line for people. */
export function printLine(text: string): void {
  process.stdout.write(`${shownLines(text)}\n`);
}

// JSON leaves these as they are, and a terminal obeys them: the second set of controls, and what turns text around.
const OBEYED = /[\u007f-\u009f\u2028\u2029\p{Cf}]/gu;

/** The same JSON, in which nothing is left that a terminal would obey. */
export function plainJson(json: string): string {
  return json.replace(OBEYED, (found) =>
    found
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Writes one JSON document for machines. */
export function printJson(value: unknown): void {
  process.stdout.write(`${plainJson(JSON.stringify(value, undefined, 2))}\n`);
}
