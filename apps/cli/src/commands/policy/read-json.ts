import { readFileSync } from "node:fs";
import { parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/** Reads one JSON document from a file, or from standard input for `-`. */
export function readJson(file: string): JsonValue {
  return parseJson(readFileSync(file === "-" ? 0 : file));
}

/** Reads JSON lines; a line that is not JSON is `undefined`. */
export function readJsonLines(file: string): (JsonValue | undefined)[] {
  return readFileSync(file === "-" ? 0 : file, "utf8")
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
