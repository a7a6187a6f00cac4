import { readFileSync } from "node:fs";

/** The bytes of a file, or of standard input for `-`; an error of the system always names the file. */
export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    throw withPath(error, file);
  }
}

/** The text of a file, or of standard input for `-`. */
export function readText(file: string): string {
  return readBytes(file).toString("utf8");
}

/** The error with the path it is about: what fails only when it is read, as a folder does, comes without. */
export function withPath(error: unknown, path: string): unknown {
  if (error instanceof Error && "syscall" in error && !("path" in error)) {
    return Object.assign(error, { path });
  }
  return error;
}
