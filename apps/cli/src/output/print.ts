import { printableJson, printableText } from "@countersign/core";

const ESCAPE = "\u001b";
/** Colours of our own, and what lays out a text of several lines. */
const OURS = new RegExp(`(${ESCAPE}\\[(?:[12]|22|3\\d)m|[\n\t])`, "u");

/**
 * Lines in which only our colours are left of what a terminal obeys. Verbs write out names of others' themselves, for a
 * name must not make a line of its own; here the rest is caught, whatever file or peer it came from.
 */
export function displayLines(text: string): string {
  // Every second piece is one of ours.
  const pieces = text.split(OURS);
  return pieces.map((piece, index) => (index % 2 === 1 ? piece : printableText(piece))).join("");
}

/** Writes one line for people. */
export function printLine(text: string): void {
  process.stdout.write(`${displayLines(text)}\n`);
}

/** Writes one JSON document for machines. */
export function printJson(value: unknown): void {
  process.stdout.write(`${printableJson(JSON.stringify(value, undefined, 2))}\n`);
}

/** Writes one JSON value on a line of its own, for machines. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(`${printableJson(JSON.stringify(value))}\n`);
}
