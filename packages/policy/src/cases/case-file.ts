import { CAPABILITY_STATUSES } from "@countersign/core";
import type { CapabilityStatus, Direction, JsonObject, JsonValue } from "@countersign/core";
import type { PolicyIssue } from "../document/issue.js";
import { DEFAULT_POLICY_LIMITS } from "../document/limits.js";
import { readYaml } from "../document/read-yaml.js";
import { validateAgainstSchema } from "../document/validate.js";
import type { Transport } from "../compile/facts.js";
import type { JsonSchema } from "../schema/json-schema.js";
import { choice, closed, list, text } from "../schema/json-schema.js";
import type { SurfaceCase } from "./surface-case.js";
import { lintCases } from "./lint-cases.js";
import { SHOWN_CASE_SCHEMA, SURFACE_CASE_SCHEMA } from "./surface-case.js";

/** The expected result of a case. */
export type Expectation = {
  /** `deny` is `block` where the policy enforces and `observe` where it observes. */
  decision: "allow" | "block" | "observe" | "deny";
  rule?: string;
  reason?: string;
  reason_code?: string;
  /** `a2ui:Button:surface/id`. */
  component?: string;
};

/** One case: an event, its context, and the expected decision. */
export type PolicyCase = {
  name: string;
  /** Events and requests of the thread that pass before the event, in order. */
  before?: JsonObject[];
  event: JsonObject;
  capability?: { id?: string; status?: CapabilityStatus; scopes?: string[] };
  transport?: Transport;
  direction?: Direction;
  client_tools?: string[];
  client_state?: JsonValue;
  /** Arguments: the text, or the object that it stands for. */
  tool?: { name: string; arguments?: JsonValue };
  session?: JsonObject;
  message?: JsonObject;
  /** The generative UI that the event draws, in place of its operations. */
  surface?: SurfaceCase;
  /** The generative UI that the thread shows before a request, in place of `before`. */
  shown?: SurfaceCase;
  violations?: { rule: string; severity: "error" | "warning" }[];
  denied_calls?: number;
  repeat?: number;
  interval_ms?: number;
  expect: Expectation;
};

/** A file of cases; `policy` names the policy file, relative to this one. */
export type CaseFile = { policy?: string; cases: PolicyCase[] };

const open: JsonSchema = { type: "object", additionalProperties: true };
const count: JsonSchema = { type: "integer", minimum: 1, maximum: 100_000 };

const policyCase = closed(
  "One case.",
  {
    name: text("What the case shows.", 200),
    before: list(
      "Events and requests of the thread that pass before the event, in order: what the client was shown, and the clicks that were used.",
      { ...open, description: "An AG-UI event or a RunAgentInput." },
      1000,
    ),
    event: { ...open, description: "An AG-UI event, an envelope or a RunAgentInput." },
    capability: closed("The token presented; absent means none.", {
      id: text("Its id."),
      status: choice("The result of its verification.", CAPABILITY_STATUSES),
      scopes: list("Its scopes.", text("A scope.", 600), 1000),
    }),
    transport: choice("The transport.", ["sse", "websocket"]),
    direction: choice("Of an envelope; native events and requests know theirs.", [
      "outbound",
      "inbound",
    ]),
    client_tools: list("Tools the client advertised.", text("A name."), 1000),
    client_state: { description: "The shared state the client has; absent means an empty one." },
    tool: closed(
      "The call an event belongs to.",
      {
        name: text("The tool's name."),
        arguments: {
          description: "The whole text of its arguments, or the object that it stands for.",
        },
      },
      ["name"],
    ),
    session: open,
    message: open,
    surface: SURFACE_CASE_SCHEMA,
    shown: SHOWN_CASE_SCHEMA,
    violations: list(
      "The violation that the run automaton found.",
      closed(
        "One violation.",
        { rule: text("Its rule."), severity: choice("How bad.", ["error", "warning"]) },
        ["rule", "severity"],
      ),
      16,
    ),
    denied_calls: {
      ...count,
      description: "Calls that were denied on the thread before, within the quarantine's window.",
    },
    repeat: { ...count, description: "Send the event so often; the last one is expected." },
    interval_ms: { ...count, maximum: 86_400_000, description: "Time between repetitions." },
    expect: closed(
      "The expected decision of the policy.",
      {
        decision: choice(
          "The decision. deny: block where the policy enforces, observe where it only observes.",
          ["allow", "block", "observe", "deny"],
        ),
        rule: text("The rule that blocks."),
        reason: text("The reason.", 1000),
        reason_code: text("Its code."),
        component: text(
          "The component of the surface that is named, as a2ui:Button:SURFACE/ID.",
          2048,
        ),
      },
      ["decision"],
    ),
  },
  ["name", "event", "expect"],
);

/** The grammar of case files. */
export const CASE_FILE_SCHEMA: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Countersign policy cases",
  ...closed(
    "Events with the decisions a policy has to make.",
    {
      policy: text("The policy file, relative to this one.", 1024),
      cases: list("The cases.", policyCase, 5000),
    },
    ["cases"],
  ),
};

/** Reads a case file and reports problems with their positions. */
export function readCaseFile(
  source: string,
  file: string,
): { file?: CaseFile; issues: readonly PolicyIssue[] } {
  const read = readYaml(source, file, DEFAULT_POLICY_LIMITS);
  if (read.value === undefined) return { issues: read.issues };
  const issues = validateAgainstSchema(CASE_FILE_SCHEMA, read.value, read.positions, 50);
  if (issues.length > 0) return { issues };
  const cases = read.value as unknown as CaseFile;
  const mistakes = lintCases(cases.cases, read.positions);
  return mistakes.length > 0 ? { issues: mistakes } : { file: cases, issues };
}
