import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { CountersignError, ownMember, parseJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { readReportEntry, REPORT_SCHEMA, withoutTrace } from "@countersign/redteam";
import type { LoadedDocument, ReportEntry } from "@countersign/redteam";
import { readText } from "../../files/read-file.js";

/** The part of a suite that is finished, on disk. */
export type ResumeFile = {
  readonly done: ReadonlyMap<string, ReportEntry>;
  add(entry: ReportEntry): void;
};

/**
 * Opens or begins a file of finished documents, one per line. Traces are not kept there. An entry counts for the same
 * document under the same settings only: each line has a digest of both.
 *
 * @param settings what decides an outcome beside the document
 * @throws CountersignError ERR_REDTEAM_REPORT when the file is something else or belongs to another target
 */
export function openResumeFile(
  file: string,
  target: string,
  gateway: string | undefined,
  documents: readonly LoadedDocument[],
  settings: object,
): ResumeFile {
  const digests = new Map(
    documents.map((loaded) => [loaded.name, sha256Hex(JSON.stringify([loaded, settings]))]),
  );
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
      const { entry, digest } = readLine(line);
      if (entry !== undefined && digest === digests.get(entry.name)) done.set(entry.name, entry);
    }
  } else writeFileSync(file, `${JSON.stringify(head)}\n`, { mode: 0o600 });
  return {
    done,
    add(entry) {
      const line = { digest: digests.get(entry.name), entry: withoutTrace(entry) };
      appendFileSync(file, `${JSON.stringify(line)}\n`);
    },
  };
}

/** A line that a killed process left half written is run again. */
function readLine(line: string): { entry?: ReportEntry | undefined; digest?: JsonValue } {
  try {
    const value = parseJson(line);
    const digest = ownMember(value, "digest");
    const entry = readReportEntry(ownMember(value, "entry") ?? null);
    return digest === undefined ? {} : { entry, digest };
  } catch {
    return {};
  }
}
