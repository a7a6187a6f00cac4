import { CountersignError } from "@countersign/core";
import { formatIssue } from "@countersign/policy/yaml";
import type { DocumentIssue } from "@countersign/policy/yaml";
import { existsSync } from "node:fs";
import { readRegularFile } from "../base/files.js";
import "../base/errors.js";
import { headerProblem } from "./headers.js";

/** Options of loading a configuration. */
export type ConfigOptions = {
  /** The path of the file, used in messages and to resolve relative paths. */
  readonly file: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** The context of reading a document, with the position of each value. */
export type Reading = ConfigOptions & {
  readonly issue: (pointer: string, message: string) => DocumentIssue;
};

/**
 * Replaces `${NAME}` by the environment variable, or by the content of the file that `NAME_FILE` names, as
 * orchestrators mount secrets. It must be set.
 */
export function expand(
  value: string,
  { file, environment, issue }: Reading,
  pointer: string,
): string {
  return value.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_match, name: string) => {
    const found = environment[name] ?? readSecret(environment[`${name}_FILE`]);
    if (found === undefined) {
      const place = issue(pointer, `the environment variable ${name}, used here, is not set`);
      throw new CountersignError("ERR_CONFIG_VARIABLE", formatIssue(place), {
        file,
        line: place.line,
        column: place.column,
        variable: name,
      });
    }
    return found;
  });
}

const MAX_SECRET_BYTES = 1024 * 1024;

function readSecret(file: string | undefined): string | undefined {
  return file === undefined || !existsSync(file)
    ? undefined
    : readRegularFile(file, MAX_SECRET_BYTES).toString("utf8").trimEnd();
}

/** Headers with their secrets filled in; a header that cannot be sent is refused. */
export function expandHeaders(
  headers: Readonly<Record<string, string>> = {},
  options: Reading,
  pointer: string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, written]) => {
      const at = `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      const value = expand(written, options, at);
      const problem = headerProblem(name, value);
      if (problem !== undefined) throw invalid(options.file, [options.issue(at, problem)]);
      return [name.toLowerCase(), value];
    }),
  );
}

/** Problems that are reported at once. */
const MAX_REPORTED = 20;

/** The error for an invalid file, with each problem on its own line. */
export function invalid(file: string, issues: readonly DocumentIssue[]): CountersignError {
  const lines = issues.slice(0, MAX_REPORTED).map(formatIssue);
  if (issues.length > MAX_REPORTED) lines.push(`and ${issues.length - MAX_REPORTED} more`);
  const message =
    lines.length === 1 ? lines.join("") : [`${file} does not load`, ...lines].join("\n  ");
  return new CountersignError("ERR_CONFIG_INVALID", message, { file, issues });
}
