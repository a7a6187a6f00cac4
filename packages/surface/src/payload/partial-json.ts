import { isJsonObject, parseJson } from "@countersign/core";
import type { JsonObject } from "@countersign/core";

/** The members that are complete in the beginning of a JSON object. */
export interface PartialObject {
  readonly members: JsonObject;
  /** The member that the text stops in: its value is there as far as it is complete. */
  readonly open: string | undefined;
}

/**
 * Reads the beginning of the JSON text of an object: whatever value is complete. Undefined when there
 * is none, or the text is no JSON.
 */
export function readPartialObject(text: string): PartialObject | undefined {
  const cut = lastCompleteValue(text);
  if (cut === undefined) return undefined;
  try {
    const members = parseJson(text.slice(0, cut.end) + cut.closers);
    if (!isJsonObject(members)) return undefined;
    return { members, open: cut.closers.length > 1 ? Object.keys(members).at(-1) : undefined };
  } catch {
    return undefined;
  }
}

/** The end of the last complete value, and the text that closes the containers around it. */
function lastCompleteValue(text: string): { end: number; closers: string } | undefined {
  const open: string[] = [];
  let found: { end: number; closers: string } | undefined;
  let isKey = false;
  const note = (end: number): void => {
    found = { end, closers: open.toReversed().join("") };
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (end === undefined) return found;
      at = end;
      if (!isKey) note(at + 1);
    } else if (character === "{" || character === "[") {
      open.push(character === "{" ? "}" : "]");
      isKey = character === "{";
      note(at + 1);
    } else if (character === "}" || character === "]") {
      open.pop();
      isKey = false;
      note(at + 1);
    } else if (character === ":") isKey = false;
    else if (character === ",") {
      // A number or a word ends here.
      note(at);
      isKey = open.at(-1) === "}";
    }
  }
  return found;
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at;
  }
  return undefined;
}
