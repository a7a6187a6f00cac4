import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { CountersignError, parseJson } from "@countersign/core";
import { readReportEntry, REPORT_SCHEMA, withoutTrace } from "@countersign/redteam";
import type { ReportEntry } from "@countersign/redteam";
import { readText } from "../../files/read-file.js";

/** The part of a suite that is finished, on disk. */
export type ResumeFile = {
  readonly done: ReadonlyMap<string, ReportEntry>;
  add(entry: ReportEntry): void;
};

/**
 * Opens or begins a file of finished documents, one per line. Traces are not kept there.
 *
 * @throws CountersignError ERR_REDTEAM_REPORT when the file is something else or belongs to another target
 */
export function openResumeFile(
  file: string,
  target: string,
  gateway: string | undefined,
): ResumeFile {
  const head = { schema: REPORT_SCHEMA, target, gateway: gateway ?? null };
  const done = new Map<string, ReportEntry>();
  if (existsSync(file)) {
    const [first, ...lines] = readText(file).split("\n");
    if (first !== JSON.stringify(head)) {
      throw new CountersignError("ERR_REDTEAM_REPORT", `${file} is not the beginning of this run`, {
        expected: REPORT_SCHEMA,
      });
    }
    for (const line of lines) {
      const entry = readLine(line);
      if (entry !== undefined) done.set(entry.name, entry);
    }
  } else writeFileSync(file, `${JSON.stringify(head)}\n`, { mode: 0o600 });
  return { done, add: (entry) => appendFileSync(file, `${JSON.stringify(withoutTrace(entry))}\n`) };
}

/** A line that a killed process left half written is run again. */
function readLine(line: string): ReportEntry | undefined {
  try {
    return readReportEntry(parseJson(line));
  } catch {
    return undefined;
  }
}
