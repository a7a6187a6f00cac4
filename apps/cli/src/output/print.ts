/** Writes one line for people. */
export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Writes one JSON document for machines. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}
