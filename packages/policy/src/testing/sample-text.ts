import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The text of a file in `policies/`, for tests. */
export function sampleText(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../../policies/${name}`, import.meta.url)), "utf8");
}
