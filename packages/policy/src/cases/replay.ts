import type { CompiledPolicy } from "../compile/compile.js";
import type { Decision } from "../compile/decision.js";
import type { CapabilityFacts } from "../compile/facts.js";
import { NO_COUNTERS } from "../compile/facts.js";
import type { EventFacts } from "../classify/facts.js";
import { blockedPath } from "./blocked-path.js";
import type { RecordedSubject } from "./recording.js";
import { readSubject } from "./subject.js";

/** The change of a candidate policy for one recorded event. */
export type ReplayChange = {
  readonly position: number;
  readonly change: "newly blocked" | "newly allowed" | "other reason";
  readonly event: EventFacts;
  readonly before: string;
  readonly after: string;
  /** The rule that blocks, after or else before. */
  readonly rule?: string;
  /** The state path that it blocks, if a capture shows one. */
  readonly path?: string;
};

/** Counts and samples of a replay. */
export type ReplayReport = {
  readonly judged: number;
  readonly newlyBlocked: number;
  readonly newlyAllowed: number;
  readonly otherReason: number;
  readonly unchanged: number;
  /** Events of which only class, type and target are known. */
  readonly partial: number;
  readonly samples: readonly ReplayChange[];
  /** How often each rule of the candidate blocked. */
  readonly byRule: ReadonlyMap<string, number>;
};

/** Options of {@link replayRecording}. */
export type ReplayOptions = {
  /** The policy to compare with; default: the recorded decisions, and "delivered" for captures. */
  readonly baseline?: CompiledPolicy;
  /** The same recording as the baseline classifies it; default: as the candidate does. */
  readonly baselineSubjects?: readonly RecordedSubject[];
  /**
   * Scopes of the session, for captures; a log entry with a token is assumed to have had the right
   * one.
   */
  readonly scopes?: readonly string[];
  readonly maxSamples?: number;
};

/**
 * Evaluates recorded events again. Rates and caps are left out on both sides: a recording does not
 * contain the load at the time, so a difference would be accidental.
 */
export function replayRecording(
  candidate: CompiledPolicy,
  subjects: readonly RecordedSubject[],
  options: ReplayOptions = {},
): ReplayReport {
  const { baseline, maxSamples = 10 } = options;
  const samples: ReplayChange[] = [];
  const kept = new Map<ReplayChange["change"], number>();
  const counts = { "newly blocked": 0, "newly allowed": 0, "other reason": 0, unchanged: 0 };
  const byRule = new Map<string, number>();
  subjects.forEach((subject, index) => {
    const after = decide(candidate, subject, options.scopes);
    const earlier = options.baselineSubjects?.[index] ?? subject;
    const before =
      baseline === undefined ? recorded(subject) : decide(baseline, earlier, options.scopes);
    if (!after.allow) byRule.set(after.rule, (byRule.get(after.rule) ?? 0) + 1);
    const change = compareDecisions(before, after, baseline !== undefined);
    counts[change] += 1;
    if (change === "unchanged") return;
    const seen = kept.get(change) ?? 0;
    kept.set(change, seen + 1);
    if (seen < maxSamples) {
      samples.push({
        position: subject.position,
        change,
        event: subject.facts,
        before: sentence(before),
        after: sentence(after),
        ...blockOf(after, candidate, subject, options),
        ...(after.allow && baseline !== undefined
          ? blockOf(before, baseline, earlier, options)
          : {}),
      });
    }
  });
  return {
    judged: subjects.length,
    newlyBlocked: counts["newly blocked"],
    newlyAllowed: counts["newly allowed"],
    otherReason: counts["other reason"],
    unchanged: counts.unchanged,
    partial: subjects.filter((subject) => subject.isPartial).length,
    samples,
    byRule,
  };
}

function decide(
  policy: CompiledPolicy,
  subject: RecordedSubject,
  scopes: readonly string[] | undefined,
): Decision {
  const { facts, transport, isPartial, value, surface, requests } = subject;
  const capability = capabilityOf(policy, subject, scopes);
  return policy.evaluate({
    event: facts,
    surface,
    requests,
    transport,
    counters: NO_COUNTERS,
    capability,
    ...(isPartial ? {} : { variables: { event: value } }),
  });
}

/** The rule of a block, and its state path. */
function blockOf(
  outcome: Outcome,
  policy: CompiledPolicy,
  subject: RecordedSubject,
  { scopes }: ReplayOptions,
): Pick<ReplayChange, "rule" | "path"> {
  const { rule } = outcome;
  if (outcome.allow || rule === undefined) return {};
  if (subject.isPartial) return { rule };
  const path = blockedPath(subject.value, rule, (value) => {
    const { refinements } = policy;
    const { direction } = subject.facts;
    const part = readSubject(value, { refinements, direction }).subject;
    if (part === undefined) return undefined;
    const decision = decide(policy, { ...subject, ...part }, scopes);
    return decision.allow ? undefined : decision.rule;
  });
  return path === undefined ? { rule } : { rule, path };
}

function capabilityOf(
  policy: CompiledPolicy,
  subject: RecordedSubject,
  scopes: readonly string[] | undefined,
): CapabilityFacts | undefined {
  if (subject.capabilityId !== undefined && subject.allowed === true) {
    const exact = (policy.document.rules.ag_ui?.capability_scopes ?? []).map((s) => s.scope_id);
    return { id: subject.capabilityId, status: "valid", scopes: ["*", ...exact] };
  }
  return scopes === undefined ? undefined : { id: "replay", status: "valid", scopes };
}

type Outcome = { readonly allow: boolean; readonly reason?: string; readonly rule?: string };

function recorded({ allowed, value }: RecordedSubject): Outcome {
  if (allowed !== false) return { allow: true };
  const reason = value["denial_reason"];
  return { allow: false, ...(typeof reason === "string" ? { reason } : {}) };
}

function compareDecisions(
  before: Outcome,
  after: Decision,
  sameJudge: boolean,
): ReplayChange["change"] | "unchanged" {
  if (before.allow !== after.allow) return after.allow ? "newly allowed" : "newly blocked";
  // Recorded reasons may come from another version; only two current policies are compared.
  if (sameJudge && !after.allow && before.reason !== after.reason) return "other reason";
  return "unchanged";
}

function sentence(outcome: Outcome): string {
  return outcome.allow ? "allow" : `block: ${outcome.reason ?? "no reason recorded"}`;
}
