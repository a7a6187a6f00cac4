import { readFile } from "node:fs/promises";
import { CountersignError } from "@countersign/core";
import "../errors.js";

/** The text of a file named on the command line. */
export async function readInput(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch {
    throw missing(file);
  }
}

/** A file named on the command line is not there. */
export function missing(file: string): CountersignError {
  return new CountersignError("ERR_CLI_NO_FILE", `${file} is not there or cannot be read`, {
    file,
  });
}
