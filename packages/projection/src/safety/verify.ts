import { deltaOf } from "./deltas.js";
import { SafetyRules } from "./rules.js";
import type { SafetyIssue, SafetySpec } from "./rules.js";
import { scanText } from "./scan.js";

type Piece = { readonly frameIndex: number; readonly start: number };
type Joined = { text: string; readonly pieces: Piece[] };

const MAX_DEPTH = 128;

/**
 * Looks for forbidden literals and patterns in frames: in text, in names of members, in numbers, across
 * the deltas of one message or call, and in common encodings (JSON escapes, percent, base64, hex, and
 * these inside each other). Returns every place found, or an empty list; never throws.
 *
 * This is evidence for tests and a last gate. What keeps a stream safe is that each owner lists what may
 * leave; a search can only find what somebody thought of.
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

/** Everything in one frame. */
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
      // What is referred to twice, or by itself, has been looked at; what is too deep has not.
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
      // A name that holds the secret is not repeated in the path either.
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
    // A getter or a proxy threw: what it would have shown is unknown.
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

/** What is found in one delta alone was reported there already. */
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
