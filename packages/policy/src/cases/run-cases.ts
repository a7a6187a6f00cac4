import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { ClientState } from "../classify/client-state.js";
import type { CompiledPolicy } from "../compile/compile.js";
import type { Decision, Denial } from "../compile/decision.js";
import type { CapabilityFacts, DecisionFacts } from "../compile/facts.js";
import type { CounterBook } from "../counters/book.js";
import { createCounterBook } from "../counters/book.js";
import type { Expectation, PolicyCase } from "./case-file.js";
import { formatTarget } from "../vocabulary/target.js";
import { surfaceOfCase, threadOfCase } from "./surface-case.js";
import { FileThread, withRequests } from "./thread.js";
import type { ThreadContext, UiSubject, UiSubjectResult } from "./thread.js";
import { readSubject } from "./subject.js";
import type { Subject } from "./subject.js";
import { matchSurfaceRequest, readSurfaceRequests } from "../surface/request.js";
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
  const book = createCounterBook(policy.limits);
  const { subject, problem } = readCaseSubject(policy, entry, book);
  if (subject === undefined) {
    return { name: entry.name, passed: false, differences: [problem], hit: [] };
  }
  const facts = factsOf(entry, subject, book, policy);
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

/** Reads the events before, in order, and then the event of the case. */
function readCaseSubject(
  policy: CompiledPolicy,
  entry: PolicyCase,
  book: CounterBook,
): UiSubjectResult {
  const { tool, direction } = entry;
  const id = callIdOf(entry.event);
  const tools = entry.client_tools && { clientTools: new Set(entry.client_tools) };
  const context: ThreadContext = {
    ...tools,
    ...(direction === undefined ? {} : { direction }),
    ...(tool === undefined ? {} : { toolNames: new Map([[id, tool.name]]) }),
    ...(tool?.arguments === undefined
      ? {}
      : { toolArguments: new Map([[id, textOf(tool.arguments)]]) }),
  };
  const client = new ClientState(entry.client_state ?? {});
  const event = asSent(entry.event);
  if (entry.surface !== undefined || entry.shown !== undefined) {
    const { refinements } = policy;
    const { subject, problem } = readSubject(event, { ...context, refinements, client });
    return subject === undefined ? { problem } : { subject: asDescribed(entry, subject, policy) };
  }
  const thread = new FileThread(policy, client);
  for (const [index, value] of (entry.before ?? []).entries()) {
    const { subject, problem } = thread.read(asSent(value), tools);
    if (subject === undefined) return { problem: `before.${index}: ${problem}` };
    const decision = policy.evaluate(factsOf({ ...entry, repeat: 1 }, subject, book, policy));
    if (!decision.allow) {
      const why = `${decision.rule}: ${decision.reason}`;
      return {
        problem: `before.${index} does not pass (${why}). Fix: put in "before" only what the thread was shown`,
      };
    }
    book.commit(subject.facts, KEYS, 0);
    thread.see(subject);
  }
  return thread.read(event, context);
}

function callIdOf({ toolCallId }: JsonObject): string {
  return typeof toolCallId === "string" ? toolCallId : "";
}

/** AG-UI has texts where a person writes an object. */
function asSent(event: JsonObject): JsonObject {
  const { type, content } = event;
  if (type !== "TOOL_CALL_RESULT" || !isJsonObject(content)) return event;
  return { ...event, content: textOf(content) };
}

function textOf(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The subject with the interface that `surface` or `shown` describes. */
function asDescribed(entry: PolicyCase, subject: Subject, policy: CompiledPolicy): UiSubject {
  const { facts, value } = subject;
  if (facts.direction === "inbound") {
    const thread = threadOfCase(entry.shown);
    const requests = readSurfaceRequests(value).map((one) => matchSurfaceRequest(one, thread));
    return withRequests(subject, requests, policy);
  }
  if (entry.surface === undefined) return subject;
  const surface = surfaceOfCase(entry.surface);
  return { value, facts: addSurface(facts, surface.facts, policy.refinements), surface };
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
  const { type, id } = denial?.component ?? {};
  const component = type && id && formatTarget({ component_type: type, component_id: id });
  check("component", expected.component, component);
  return differences;
}

function kindOf(decision: Decision): Expectation["decision"] {
  if (!decision.allow) return "block";
  return decision.observed === undefined ? "allow" : "observe";
}
