import { CountersignError } from "@countersign/core";
import { pathExists } from "../../files/path-exists.js";
import { readText } from "../../files/read-file.js";
import "../errors.js";

/** The text of a file named on the command line. */
export async function readInput(file: string): Promise<string> {
  if (!pathExists(file)) throw missing(file);
  return readText(file);
}

/** A file named on the command line does not exist. */
export function missing(file: string): CountersignError {
  return new CountersignError("ERR_CLI_NO_FILE", `${file} does not exist. Fix: correct the path`, {
    file,
  });
}
