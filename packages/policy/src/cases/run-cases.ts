import { ClientState } from "../classify/client-state.js";
import type { CompiledPolicy } from "../compile/compile.js";
import type { Decision, Denial } from "../compile/decision.js";
import type { CapabilityFacts, DecisionFacts } from "../compile/facts.js";
import type { CounterBook } from "../counters/book.js";
import { createCounterBook } from "../counters/book.js";
import type { Expectation, PolicyCase } from "./case-file.js";
import type { Subject } from "./subject.js";
import { readSubject } from "./subject.js";
import { surfaceOfCase, threadOfCase } from "./surface-case.js";
import { addRequests, matchSurfaceRequest, readSurfaceRequests } from "../surface/request.js";
import { addSurface } from "../surface/view.js";

/** The result of one case. */
export type CaseResult = {
  readonly name: string;
  readonly passed: boolean;
  /** One sentence per difference. */
  readonly differences: readonly string[];
  /** Rules that blocked (or would have) in this case. */
  readonly hit: readonly string[];
};

/** The results of all cases, and the rules that they exercise. */
export type CaseReport = {
  readonly results: readonly CaseResult[];
  /** Rules of the policy that blocked in no case. */
  readonly neverHit: readonly string[];
  readonly rules: readonly string[];
};

const CALL_ID_FIELD = "toolCallId";
const KEYS = { session: "case", agent: "case", connection: "case", capability: "case" };

/** Runs cases against a policy, each with its own counters. */
export function runCases(policy: CompiledPolicy, cases: readonly PolicyCase[]): CaseReport {
  const results = cases.map((entry) => runCase(policy, entry));
  const hit = new Set(results.flatMap((result) => result.hit));
  return {
    results,
    neverHit: policy.rules.filter((rule) => !hit.has(rule)),
    rules: policy.rules,
  };
}

function runCase(policy: CompiledPolicy, entry: PolicyCase): CaseResult {
  const { subject, problem } = readCaseSubject(policy, entry);
  if (subject === undefined) {
    return { name: entry.name, passed: false, differences: [problem], hit: [] };
  }
  const book = createCounterBook(policy.limits);
  const facts = factsOf(entry, withUi(entry, subject, policy), book, policy);
  const decision = policy.evaluate(facts);
  const steps = policy.explain(facts).steps.filter(({ outcome }) => outcome !== "passed");
  const differences = compareWith(entry.expect, decision);
  return {
    name: entry.name,
    passed: differences.length === 0,
    differences,
    hit: [...new Set(steps.map((step) => step.rule))],
  };
}

function readCaseSubject(policy: CompiledPolicy, entry: PolicyCase) {
  const callId = entry.event[CALL_ID_FIELD];
  const id = typeof callId === "string" ? callId : "";
  const { tool } = entry;
  return readSubject(entry.event, {
    refinements: policy.refinements,
    ...(entry.direction === undefined ? {} : { direction: entry.direction }),
    ...(entry.client_tools === undefined ? {} : { clientTools: new Set(entry.client_tools) }),
    ...(entry.client_state === undefined ? {} : { client: new ClientState(entry.client_state) }),
    ...(tool === undefined ? {} : { toolNames: new Map([[id, tool.name]]) }),
    ...(tool?.arguments === undefined ? {} : { toolArguments: new Map([[id, tool.arguments]]) }),
  });
}

/** A subject with its generative UI, or with its clicks. */
type UiSubject = Subject & Pick<DecisionFacts, "surface" | "requests">;

function withUi(entry: PolicyCase, subject: Subject, { refinements }: CompiledPolicy): UiSubject {
  const { facts, value } = subject;
  if (facts.direction === "inbound") {
    const thread = threadOfCase(entry.shown);
    const requests = readSurfaceRequests(value).map((one) => matchSurfaceRequest(one, thread));
    return { value, facts: addRequests(facts, requests, refinements), requests };
  }
  if (entry.surface === undefined) return subject;
  const surface = surfaceOfCase(entry.surface);
  return { value, facts: addSurface(facts, surface.facts, refinements), surface };
}

function factsOf(
  entry: PolicyCase,
  subject: UiSubject,
  book: CounterBook,
  policy: CompiledPolicy,
): DecisionFacts {
  const capability: CapabilityFacts | undefined =
    entry.capability === undefined
      ? undefined
      : {
          id: entry.capability.id ?? "case",
          status: entry.capability.status ?? "valid",
          scopes: entry.capability.scopes ?? [],
        };
  const rest = {
    event: subject.facts,
    surface: subject.surface,
    requests: subject.requests,
    transport: entry.transport ?? "sse",
    capability,
    violations: entry.violations,
    deniedCalls: entry.denied_calls,
    variables: {
      event: subject.value,
      ...(entry.session === undefined ? {} : { session: entry.session }),
      ...(entry.message === undefined ? {} : { message: entry.message }),
    },
  };
  const repeat = entry.repeat ?? 1;
  const interval = entry.interval_ms ?? 0;
  for (let round = 0; round < repeat - 1; round += 1) {
    const now = round * interval;
    const counters = book.peek(subject.facts, KEYS, now);
    if (policy.evaluate({ ...rest, counters }).allow) book.commit(subject.facts, KEYS, now);
  }
  return { ...rest, counters: book.peek(subject.facts, KEYS, (repeat - 1) * interval) };
}

const MODES = { allow: "", deny: "", block: "enforces", observe: "observes" } as const;

function compareWith(expected: Expectation, decision: Decision): string[] {
  const actual = kindOf(decision);
  const denial: Denial | undefined = decision.allow ? decision.observed : decision;
  const differences: string[] = [];
  const isOtherMode = actual !== "allow" && expected.decision !== "allow";
  if (actual !== expected.decision && !(isOtherMode && expected.decision === "deny")) {
    const because = denial === undefined ? "" : ` (${denial.rule}: ${denial.reason})`;
    const hint = isOtherMode
      ? `; written for a policy that ${MODES[expected.decision]}, deny holds for both`
      : "";
    differences.push(`expected ${expected.decision}, got ${actual}${because}${hint}`);
  }
  const check = (what: string, wanted: string | undefined, got: string | undefined): void => {
    if (wanted !== undefined && wanted !== got) {
      differences.push(`expected ${what} "${wanted}", got "${got ?? "none"}"`);
    }
  };
  check("rule", expected.rule, denial?.rule);
  check("reason", expected.reason, denial?.reason);
  check("reason_code", expected.reason_code, denial?.reasonCode);
  return differences;
}

function kindOf(decision: Decision): Expectation["decision"] {
  if (!decision.allow) return "block";
  return decision.observed === undefined ? "allow" : "observe";
}
