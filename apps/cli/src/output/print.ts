/** Writes one line for people. */
export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
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
