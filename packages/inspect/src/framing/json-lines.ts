import { parseJson } from "@countersign/core";

/** The lines, when each of them is a JSON object by itself; otherwise they are pieces of one text. */
export function splitObjects(lines: readonly string[]): readonly string[] | undefined {
  return lines.every(isObjectText) ? lines : undefined;
}

function isObjectText(text: string): boolean {
  if (!text.trimStart().startsWith("{")) return false;
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}
