import { InvalidArgumentError } from "commander";

/** A whole number from 1 on. */
export function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1000) {
    throw new InvalidArgumentError("Write a whole number from 1 to 1000.");
  }
  return count;
}

/** Seconds as milliseconds. */
export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 86_400)) {
    throw new InvalidArgumentError("Write seconds: more than 0, at most 86400.");
  }
  return Math.ceil(seconds * 1000);
}

/** One more `Name: value`. */
export function readHeader(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const [, name, value] = /^([\w-]+):\s*([\x20-\x7e]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError("Write a header such as 'Authorization: Bearer …'.");
  }
  return { ...before, [name.toLowerCase()]: value };
}
