import type { MatchDetail } from "./outcome.js";
import type { TraceEntry } from "./trace.js";

/** How much of the traffic evidence may show. */
export type EvidenceOptions = {
  /** Show the matched text instead of its first letters. Traces hold secrets, so the default is no. */
  readonly reveal?: boolean;
  /** Characters of the text that are shown when it is revealed. */
  readonly maxLength?: number;
};

const DEFAULT_LENGTH = 160;
const LETTERS_WHEN_MASKED = 3;

/** One sentence on a match: event number and name, place, text. */
export function describeMatch(
  entry: TraceEntry,
  detail: MatchDetail,
  options: EvidenceOptions = {},
): string {
  const parts = [`event ${entry.seq} ${entry.event}`];
  if (detail.path !== undefined) parts.push(`at ${detail.path === "" ? "the root" : detail.path}`);
  if (detail.score !== undefined) parts.push(`score ${detail.score.toFixed(2)}`);
  if (detail.text !== undefined) parts.push(describeText(detail.text, options));
  return parts.join(", ");
}

function describeText(text: string, options: EvidenceOptions): string {
  const limit =
    options.reveal === true ? (options.maxLength ?? DEFAULT_LENGTH) : LETTERS_WHEN_MASKED;
  const shown = text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, "");
  return `"${shown}${text.length > limit ? "…" : ""}" (${text.length} characters)`;
}
