import { isCountersignError, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { readBytes, readText } from "../../files/read-file.js";

/** Reads one JSON document from a file, or from standard input for `-`. */
export function readJson(file: string): JsonValue {
  const bytes = readBytes(file);
  try {
    return parseJson(bytes);
  } catch (error) {
    const name = file === "-" ? "standard input" : file;
    if (isCountersignError(error)) error.message = `${name}: ${error.message}`;
    throw error;
  }
}

/** Reads JSON lines; a line that is not JSON is `undefined`. */
export function readJsonLines(file: string): (JsonValue | undefined)[] {
  return readText(file)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      try {
        return parseJson(line);
      } catch {
        return undefined;
      }
    });
}
