import { assertPositiveInteger, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { Role, RunAgentInput } from "@countersign/wire";
import { isRecord, safeValueFromUnknown } from "../safe/value.js";
import { readBody, readInput } from "./decode.js";
import { LoweringIssues } from "./issues.js";
import type { LoweringIssue } from "./issues.js";
import { intentOf, lowerMessages } from "./messages.js";
import { DEFAULT_LOWERING_LIMITS } from "./policy.js";
import type { LoweringLimits, LoweringPolicy, ResumeDecision, SubmitDefaults } from "./policy.js";
import { lowerResume } from "./resume.js";

/**
 * The request to a runtime. It has no route, tools, execution or authority: a client's input cannot
 * name them.
 */
export type SubmitInput = Omit<SubmitDefaults, "context" | "resume"> & {
  readonly intent: string;
  /** The server's context, and under `agUi` the client's input, as data. */
  readonly context: JsonObject;
  readonly resume?: readonly ResumeDecision[];
};

/** A lowered or refused input, with every issue. */
export type Lowered =
  | { readonly submit: SubmitInput; readonly issues: readonly LoweringIssue[] }
  | { readonly submit: undefined; readonly issues: readonly LoweringIssue[] };

const DEFAULT_ROLES: readonly Role[] = ["user"];
/** Copied one by one from the server's defaults, so that no other member of that object passes. */
const SERVER_MEMBERS = [
  "system",
  "budget",
  "outputSchema",
  "traceContext",
  "materials",
  "toolContext",
  "toolPolicy",
  "decisionInterrupts",
] as const;

/** Lowers the body of a request. */
export function lowerRunBody(body: string | Uint8Array, policy: LoweringPolicy = {}): Lowered {
  const issues = new LoweringIssues();
  const value = readBody(body, limitsOf(policy).maxBodyBytes, issues);
  return value === undefined
    ? { submit: undefined, issues: issues.list }
    : lower(value, policy, issues);
}

/**
 * Lowers a parsed input. Only parts that the policy lists pass; each omitted part and each refusal
 * has an issue.
 */
export function lowerRunInput(value: JsonValue, policy: LoweringPolicy = {}): Lowered {
  return lower(value, policy, new LoweringIssues());
}

function lower(value: JsonValue, policy: LoweringPolicy, issues: LoweringIssues): Lowered {
  const limits = limitsOf(policy);
  const input = readInput(value, issues);
  if (input === undefined) return { submit: undefined, issues: issues.list };
  if (policy.ownsThread !== undefined && !policy.ownsThread(input.threadId)) {
    issues.refuse("thread-not-owned", "/threadId");
  }
  if (input.messages.length > limits.maxMessages) issues.refuse("too-many-messages", "/messages");
  const resume = lowerResume(input.resume ?? [], policy, issues);
  const intent = intentOf(input.messages, issues);
  const isAnswer = (resume?.length ?? 0) > 0;
  if ((intent === undefined || intent.text === "") && !isAnswer) {
    issues.refuse("intent-missing", "/messages");
  }
  if ((intent?.text.length ?? 0) > limits.maxIntent) {
    issues.refuse("intent-too-large", `/messages/${intent?.index ?? 0}/content`);
  }
  const agUi = clientContext(input, policy, limits, issues);
  if (issues.isRefused) return { submit: undefined, issues: issues.list };
  const defaults: SubmitDefaults = policy.defaults ?? {};
  const fromServer: JsonObject = {};
  for (const name of SERVER_MEMBERS) {
    const member = defaults[name];
    if (member !== undefined) fromServer[name] = member;
  }
  const submit: SubmitInput = {
    ...fromServer,
    intent: intent?.text ?? "",
    context: { ...defaults.context, agUi },
    ...(resume !== undefined && { resume }),
  };
  return { submit, issues: issues.list };
}

/** The client's input as data, without the answers to interrupts. */
function clientContext(
  input: RunAgentInput,
  policy: LoweringPolicy,
  limits: LoweringLimits,
  issues: LoweringIssues,
): JsonObject {
  const roles = new Set(policy.roles ?? DEFAULT_ROLES);
  const allowedTools = policy.clientTools === undefined ? undefined : new Set(policy.clientTools);
  const clientToolNames: string[] = [];
  for (const [index, { name }] of (input.tools ?? []).entries()) {
    if (allowedTools?.has(name) ?? true) clientToolNames.push(name);
    else issues.drop("client-tool-not-allowed", `/tools/${index}`);
  }
  const agUi: JsonObject = {
    threadId: input.threadId,
    // Recorded, so that the stream can use it; it never becomes the runtime's own run id.
    clientRunId: input.runId,
    messages: lowerMessages(input.messages, roles, issues) as unknown as JsonValue,
    context: [],
    clientToolNames,
    forwardedProps: pick(
      input.forwardedProps,
      policy.forwardedProps ?? [],
      "/forwardedProps",
      issues,
      {
        notAllowed: "forwarded-prop-not-allowed",
        tooLarge: "forwarded-props-too-large",
        limit: limits.maxForwardedProps,
      },
    ),
    state: pick(input.state, policy.state ?? [], "/state", issues, {
      notAllowed: "state-not-allowed",
      tooLarge: "state-too-large",
      limit: limits.maxState,
    }),
  };
  if (input.parentRunId !== undefined) agUi["parentRunId"] = input.parentRunId;
  const context = input.context ?? [];
  if (context.length > 0 && policy.context !== true) issues.drop("context-not-allowed", "/context");
  else if (JSON.stringify(context).length > limits.maxContext) {
    issues.refuse("context-too-large", "/context");
  } else agUi["context"] = context as unknown as JsonValue;
  return agUi;
}

type PickRules = {
  readonly notAllowed: "forwarded-prop-not-allowed" | "state-not-allowed";
  readonly tooLarge: "forwarded-props-too-large" | "state-too-large";
  readonly limit: number;
};

/** Own members on the list, copied one by one. */
function pick(
  source: JsonValue | undefined,
  allowed: readonly string[],
  path: string,
  issues: LoweringIssues,
  rules: PickRules,
): JsonObject {
  const taken: JsonObject = {};
  if (source === undefined) return taken;
  if (!isRecord(source)) {
    issues.drop(rules.notAllowed, path);
    return taken;
  }
  const names = new Set(allowed);
  for (const [name, member] of Object.entries(source as JsonObject)) {
    const copied = names.has(name) ? safeValueFromUnknown(member) : undefined;
    if (copied === undefined) issues.drop(rules.notAllowed, `${path}/${pointerToken(name)}`);
    else setMember(taken, name, copied);
  }
  if (JSON.stringify(taken).length > rules.limit) issues.refuse(rules.tooLarge, path);
  return taken;
}

function pointerToken(name: string): string {
  return name.slice(0, 64).replaceAll("~", "~0").replaceAll("/", "~1");
}

function limitsOf(policy: LoweringPolicy): LoweringLimits {
  if (policy.limits === undefined) return DEFAULT_LOWERING_LIMITS;
  for (const [name, limit] of Object.entries(policy.limits)) assertPositiveInteger(name, limit);
  return { ...DEFAULT_LOWERING_LIMITS, ...policy.limits };
}
