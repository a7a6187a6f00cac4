import { deltaOf } from "./deltas.js";
import { SafetyRules } from "./rules.js";
import type { SafetyIssue, SafetySpec } from "./rules.js";
import { scanText } from "./scan.js";

type Piece = { readonly frameIndex: number; readonly start: number };
type Joined = { text: string; readonly pieces: Piece[] };

const MAX_DEPTH = 128;

/**
 * Searches frames for forbidden literals and patterns: in text, in member names, in numbers, across
 * the deltas of one message or call, and in common encodings (JSON escapes, percent, base64, hex,
 * also nested). Returns every match, or an empty list; never throws.
 *
 * This is evidence for tests and a last gate. The protection itself is that each owner lists what
 * may leave; a search finds only the listed forms.
 */
export function verifyAgUiFrameSafety(frames: readonly unknown[], spec: SafetySpec): SafetyIssue[] {
  const rules = new SafetyRules(spec);
  const issues: SafetyIssue[] = [];
  const streams = new Map<string, Joined>();
  for (const [frameIndex, frame] of frames.entries()) {
    issues.push(...scanFrame(frame, frameIndex, rules));
    const delta = deltaOf(frame);
    if (delta === undefined) continue;
    const joined = streams.get(delta.stream) ?? { text: "", pieces: [] };
    joined.pieces.push({ frameIndex, start: joined.text.length });
    joined.text += delta.text;
    streams.set(delta.stream, joined);
  }
  for (const joined of streams.values()) issues.push(...scanJoined(joined, rules, issues));
  return issues;
}

/** All matches in one frame. */
export function scanFrame(frame: unknown, frameIndex: number, rules: SafetyRules): SafetyIssue[] {
  const issues: SafetyIssue[] = [];
  const visited = new Set<object>();
  const visit = (value: unknown, path: string, depth: number): void => {
    const text = textOf(value);
    if (text !== undefined) {
      for (const finding of scanText(text, rules)) {
        issues.push({ ...finding, frameIndex, path, isSplit: false });
      }
    } else if (typeof value === "object" && value !== null) {
      // A value referenced twice, or by itself, was already searched; one that is too deep was not.
      if (visited.has(value)) return;
      visited.add(value);
      if (depth >= MAX_DEPTH) issues.push(unchecked(frameIndex, path));
      else visitMembers(value, path, depth + 1);
    }
  };
  const visitMembers = (value: object, path: string, depth: number): void => {
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, `${path}[${index}]`, depth);
      return;
    }
    for (const [name, member] of Object.entries(value)) {
      const findings = scanText(name, rules);
      // A name that contains the secret is not repeated in the path either.
      const shown = findings.length > 0 ? "[forbidden]" : name;
      for (const finding of findings) {
        issues.push({ ...finding, frameIndex, path: `${path}.${shown}~key`, isSplit: false });
      }
      visit(member, `${path}.${shown}`, depth);
    }
  };
  try {
    visit(frame, "$", 0);
  } catch {
    // A getter or a proxy threw: its value is unknown.
    issues.push(unchecked(frameIndex, "$"));
  }
  return issues;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

function unchecked(frameIndex: number, path: string): SafetyIssue {
  const place = { frameIndex, path, offset: 0, encodings: [], isSplit: false };
  return { kind: "unchecked", rule: -1, ...place };
}

/** A match in one delta alone was already reported there. */
function scanJoined(
  joined: Joined,
  rules: SafetyRules,
  known: readonly SafetyIssue[],
): SafetyIssue[] {
  if (joined.pieces.length < 2) return [];
  const members = new Set(joined.pieces.map(({ frameIndex }) => frameIndex));
  const reported = new Set(
    known
      .filter(({ frameIndex, path }) => path === "$.delta" && members.has(frameIndex))
      .map(({ kind, rule }) => `${kind}${rule}`),
  );
  const issues: SafetyIssue[] = [];
  for (const finding of scanText(joined.text, rules)) {
    if (reported.has(`${finding.kind}${finding.rule}`)) continue;
    const piece = joined.pieces.findLast(({ start }) => start <= finding.offset);
    issues.push({
      ...finding,
      frameIndex: piece?.frameIndex ?? 0,
      path: "$.delta",
      offset: finding.offset - (piece?.start ?? 0),
      isSplit: true,
    });
  }
  return issues;
}
