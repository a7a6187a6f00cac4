import type { CompiledPolicy } from "@countersign/policy";
import { readRecording, replayRecording } from "@countersign/policy/cases";
import type { ReplayOptions, ReplayReport } from "@countersign/policy/cases";
import { readRecordingLines } from "./recording-source.js";

/** Options of replaying a recording. */
export type ReevaluateOptions = {
  readonly source: string;
  readonly limit: number;
  readonly log: string | undefined;
  readonly baseline: CompiledPolicy | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly samples: number;
};

/** Judges a recording again; `unused` counts the lines that say nothing. */
export async function reevaluate(
  policy: CompiledPolicy,
  { source, limit, log, baseline, scopes, samples }: ReevaluateOptions,
): Promise<ReplayReport & { readonly unused: number }> {
  const { lines, broken } = await readRecordingLines(source, limit, log);
  const { subjects, skipped } = readRecording(lines, policy);
  const options: ReplayOptions = {
    maxSamples: samples,
    ...(scopes === undefined ? {} : { scopes }),
    ...(baseline === undefined
      ? {}
      : { baseline, baselineSubjects: readRecording(lines, baseline).subjects }),
  };
  return { ...replayRecording(policy, subjects, options), unused: skipped.length + broken };
}

/** Reads a number of the command line. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new TypeError(`${text} is not a whole number`);
  return value;
}
