import type { JsonObject, JsonValue } from "@countersign/core";
import { readSubject } from "../cases/subject.js";
import type { Subject } from "../cases/subject.js";
import { FileThread } from "../cases/thread.js";
import type { UiSubjectResult } from "../cases/thread.js";
import { ClientState } from "../classify/client-state.js";
import type { EventFacts } from "../classify/facts.js";
import type { Refinements } from "../classify/refinement.js";
import type { CompiledPolicy } from "../compile/compile.js";
import { compilePolicy } from "../compile/compile.js";
import type { Denial } from "../compile/decision.js";
import { NO_COUNTERS } from "../compile/facts.js";
import type { Opening } from "../compile/rule-meanings.js";
import { meaningOfPolicyRule } from "../compile/rule-meanings.js";
import { asObject } from "../base/json-object.js";
import { isGlob, matchesGlob } from "../patterns/glob.js";
import type { PolicyDocument } from "../document/model.js";
import type { Classification } from "../vocabulary/classification.js";
import { CLASSIFICATIONS } from "../vocabulary/classification.js";
import type { NamedEventType } from "../vocabulary/event-type.js";
import { addLines, joinLines, writeLines } from "./lines.js";
import type { Act } from "./named-act.js";

/** A policy's decision about an action, and the lines that would allow it. */
export type ActOpening = {
  /** The rule that blocks it, or would in enforce mode; undefined if the action passes. */
  readonly denial: Denial | undefined;
  /** Undefined if the action passes. */
  readonly opening: Opening | undefined;
};

/** Maximum number of rules that may block one action in sequence; each adds its lines. */
const MAX_STEPS = 16;

/**
 * Finds the lines that allow an action, by evaluating the policy again with each line added: the
 * result was tested.
 */
export function openAct(document: PolicyDocument, act: Act): ActOpening {
  const first = judge(document, act);
  const { refinements } = first;
  if (first.denial === undefined) return { denial: undefined, opening: undefined };
  let lines: JsonObject = {};
  let { subject } = first;
  let denial: Denial | undefined = first.denial;
  const tried = new Map<string, number>();
  for (let step = 0; denial !== undefined; step += 1) {
    const attempt = tried.get(denial.rule) ?? 0;
    tried.set(denial.rule, attempt + 1);
    const more = step < MAX_STEPS ? linesAgainst(denial, subject, refinements, attempt) : undefined;
    if (more === undefined)
      return { denial: first.denial, opening: closedBy(denial, subject, document) };
    if (typeof more === "string") return { denial: first.denial, opening: { closed: more } };
    lines = joinLines(lines, more);
    ({ denial, subject } = judge(addLines(document, lines), act));
  }
  return { denial: first.denial, opening: { policy: writeLines(lines) } };
}

/** The lines that allow a whole class in both directions, for all clients. */
export function openClass({ rules }: PolicyDocument, name: Classification): Opening {
  const before = rules.ag_ui?.restricted_classifications ?? CLASSIFICATIONS;
  const restricted = before.filter((one) => one !== name && one !== "display");
  const inbound = rules.ag_ui_inbound === undefined ? {} : { allow_classifications: [name] };
  return {
    policy: writeLines({
      ag_ui: { allow_display_without_capability: true, restricted_classifications: restricted },
      ...(rules.ag_ui_inbound === undefined ? {} : { ag_ui_inbound: inbound }),
    }),
  };
}

type Judgement = {
  readonly subject: Subject;
  readonly refinements: Refinements;
  readonly denial?: Denial;
};

function judge(document: PolicyDocument, act: Act): Judgement {
  const policy: CompiledPolicy = compilePolicy(document);
  const { refinements } = policy;
  const client = new ClientState({}, [HELD], { sent: [] });
  const tools = act.clientTools === undefined ? {} : { clientTools: act.clientTools };
  const isEvent = typeof act.value["type"] === "string";
  const { subject, problem }: UiSubjectResult = isEvent
    ? new FileThread(policy, client).read(act.value, tools)
    : readSubject(act.value, { refinements, ...tools, client });
  if (subject === undefined) throw new TypeError(problem);
  const decision = policy.evaluate({
    event: subject.facts,
    surface: subject.surface,
    transport: "sse",
    counters: NO_COUNTERS,
    capability: undefined,
    // A name is about the key of a request; each click in it is compared with its thread.
    requests: [],
    variables: { event: subject.value },
  });
  const denial = decision.allow ? decision.observed : decision;
  // The name is open then; the schema of the policy decides for each call which arguments pass.
  const isOpen = denial?.reasonCode.startsWith("tool_arguments_") === true;
  return { subject, refinements, ...(denial === undefined || isOpen ? {} : { denial }) };
}

/** A message of the client, so that a list without it removes it. */
const HELD = { id: "held", role: "assistant", content: "held" } as const;

function closedBy(
  { rule, reason }: Denial,
  { facts }: Subject,
  { rules }: PolicyDocument,
): Opening {
  const opening = meaningOfPolicyRule(rule)?.opening;
  // Drawn components have no name to try lines with: the meaning of the rule has the lines.
  const isDrawn = rule.startsWith("ag_ui_surfaces.") || rule.startsWith("ag_ui_apps.");
  if (opening !== undefined && (isDrawn || "closed" in opening)) return opening;
  const names = facts.toolCalls?.map(({ name }) => name) ?? [];
  const entry = rules.ag_ui_tools?.call?.block?.find((pattern) =>
    names.some((name) => matchesGlob(pattern, name)),
  );
  return {
    closed:
      rule === "ag_ui_tools.call" && entry !== undefined
        ? `the policy blocks it by name; take ${JSON.stringify(entry)} out of ag_ui_tools.call.block`
        : `${rule} says "${reason}" because of an entry of the policy; change that entry`,
  };
}

/** The lines to try against a denial, or the reason why there are none. */
function linesAgainst(
  { rule, reasonCode }: Denial,
  { facts, value }: Subject,
  refinements: Refinements,
  attempt: number,
): JsonObject | string | undefined {
  switch (rule) {
    case "policy":
      return attempt === 0 ? { ag_ui: { enabled: true } } : undefined;
    case "ag_ui.transport":
      return { ag_ui: { transport: "any" } };
    case "ag_ui.capability":
    case "ag_ui_inbound":
      if (reasonCode === "capability_missing")
        return { ag_ui: { allow_display_without_capability: true } };
      if (value["type"] === "MESSAGES_SNAPSHOT") {
        return attempt === 0 ? { ag_ui_messages: { lists: "open" } } : undefined;
      }
      return attempt === 0 ? classifyLines(facts, value, refinements) : undefined;
    case "ag_ui_components":
      return attempt > 1 ? undefined : componentLines(reasonCode, facts);
    case "ag_ui_tools.call":
      return attempt > 0 ? undefined : callLines(reasonCode, facts);
    case "ag_ui_tools.declare":
      return attempt > 0
        ? undefined
        : { ag_ui_tools: { declare: { allow: [...(facts.declaredTools ?? [])] } } };
    default:
      return contentLines(rule, value, attempt);
  }
}

const display = (match: string): JsonObject => ({ match, classification: "display" });

const WILDCARD =
  "the name holds * or ?, which a policy reads as wildcards: a line for it would open other names too; have it named without them";

type NameList = "tools" | "custom" | "raw" | "activities" | "interrupts";

function spelled({ eventType, customName }: NamedEventType): string {
  return customName === undefined ? eventType : `${eventType}:${customName}`;
}

/** One entry of `ag_ui_classify` for the name of the action. */
function classifyLines(
  facts: EventFacts,
  value: JsonObject,
  refinements: Refinements,
): JsonObject | string {
  // The policy's other settings for the name stay: another rule may depend on its target.
  const list = (key: NameList, names: readonly string[]): JsonObject | string =>
    names.some(isGlob)
      ? WILDCARD
      : {
          ag_ui_classify: {
            [key]: names.map((name) => {
              const { type, target } = refinements[key].find(name) ?? {};
              return {
                ...display(name),
                ...(type === undefined ? {} : { event_type: spelled(type) }),
                ...(target === undefined ? {} : { target }),
              };
            }),
          },
        };
  const text = (key: string): string => {
    const found = value[key];
    return typeof found === "string" ? found : "";
  };
  switch (facts.source) {
    case "RAW":
      // Only a wildcard matches an event without a source.
      return text("source") === ""
        ? { ag_ui_classify: { raw: [display("*")] } }
        : list("raw", [text("source")]);
    case "CUSTOM":
      return list("custom", [text("name")]);
    case "ACTIVITY_SNAPSHOT":
    case "ACTIVITY_DELTA":
      return list("activities", [text("activityType")]);
    case "RUN_FINISHED":
      return list("interrupts", reasonsOf(value));
    case "STATE_SNAPSHOT":
    case "STATE_DELTA":
      return pathsOf(value).some(isGlob)
        ? WILDCARD
        : { ag_ui_classify: { state: pathsOf(value).map((path) => display(`${path}/**`)) } };
    case "RUN_AGENT_INPUT":
      return inputLines(value);
    case "ENVELOPE":
      return facts.customName === undefined
        ? `an envelope of the type ${facts.eventType} has no name that a policy could list; give the session a token for it`
        : list("custom", [facts.customName]);
    default:
      return (facts.toolCalls ?? []).length === 0
        ? "a policy has no list for this event; give the session a token for it"
        : list(
            "tools",
            (facts.toolCalls ?? []).map(({ name }) => name),
          );
  }
}

/** Lines for the parts of a request: each of its parts is allowed. */
function inputLines(value: JsonObject): JsonObject | string {
  const { state, forwardedProps, resume, messages } = value;
  const hasResume = Array.isArray(resume) && resume.length > 0;
  const hasResult =
    Array.isArray(messages) && messages.some((one) => asObject(one)?.["role"] === "tool");
  const keys = Object.keys(asObject(forwardedProps) ?? {});
  const paths = leavesOf(state);
  if ([...keys, ...paths].some(isGlob)) return WILDCARD;
  const open = { classification: "display" };
  const input: JsonObject = {
    ...(hasResume ? { resume: open } : {}),
    ...(hasResult ? { tool_result: open } : {}),
  };
  const classify: JsonObject = {
    ...(paths.length === 0
      ? {}
      : { state: paths.map((path) => ({ ...display(`${path}/**`), direction: "inbound" })) }),
    ...(Object.keys(input).length === 0 ? {} : { input }),
  };
  return {
    ...(Object.keys(classify).length === 0 ? {} : { ag_ui_classify: classify }),
    ...(keys.length === 0 ? {} : { ag_ui_request: { forwarded_props: { allow: keys } } }),
  };
}

function componentLines(code: string, facts: EventFacts): JsonObject | string | undefined {
  const targets = [facts, ...(facts.also ?? [])].flatMap(({ target }) => target ?? []);
  const types = [...new Set(targets.map(({ component_type: type }) => type))];
  if (types.some(isGlob)) return WILDCARD;
  if (code === "unknown_component_type") return { ag_ui_components: { allow_components: types } };
  if (code !== "unknown_component_id") return undefined;
  const ids = targets.map(({ component_type: type, component_id: id }) => `${type}:${id ?? "*"}`);
  return { ag_ui_components: { allow_ids: [...new Set(ids)] } };
}

function callLines(code: string, { toolCalls = [] }: EventFacts): JsonObject | string | undefined {
  const names = toolCalls.map(({ name }) => name);
  if (names.some(isGlob)) return WILDCARD;
  if (code === "tool_not_allowed") return { ag_ui_tools: { call: { allow: names } } };
  if (code === "tool_not_advertised") return { ag_ui_tools: { require_advertised: false } };
  if (code === "tool_result_forged") return { ag_ui_tools: { allow_agent_results: true } };
  return undefined;
}

const HOST = /\/\/([a-z0-9.-]{1,253}(?::\d{1,5})?)(?=[/?#)\s"'\\]|$)/giu;

/** A host in the text is listed; only if that is not enough are all images allowed. */
function contentLines(rule: string, value: JsonObject, attempt: number): JsonObject | undefined {
  const kind = rule.startsWith("ag_ui_content.") ? rule.slice("ag_ui_content.".length) : "";
  if (kind === "images" && attempt === 0) {
    const hosts = [...JSON.stringify(value).matchAll(HOST)].map(([, host]) => host as string);
    if (hosts.length > 0) return { ag_ui_content: { image_hosts: [...new Set(hosts)] } };
  }
  if (attempt > 1 || (attempt > 0 && kind !== "images")) return undefined;
  if (["images", "links", "links_in_errors", "markup", "hidden", "sources"].includes(kind)) {
    return { ag_ui_content: { [kind]: "allow" } };
  }
  return kind === "max_characters" || kind === "max_event_characters"
    ? { ag_ui_content: { [kind]: JSON.stringify(value).length } }
    : undefined;
}

function reasonsOf(value: JsonObject): string[] {
  const interrupts = asObject(value["outcome"])?.["interrupts"];
  if (!Array.isArray(interrupts)) return [];
  return interrupts.map((one) => String(asObject(one)?.["reason"] ?? "")).filter(Boolean);
}

function pathsOf(value: JsonObject): string[] {
  const { delta, snapshot } = value;
  if (!Array.isArray(delta)) return leavesOf(snapshot);
  const paths = delta.flatMap((one) => {
    const { path, from } = asObject(one) ?? {};
    return [path, from].filter((text): text is string => typeof text === "string");
  });
  return [...new Set(paths)];
}

/** Maximum number of paths listed one by one; of a larger state the top-level keys are. */
const MAX_PATHS = 32;

function leavesOf(value: JsonValue | undefined): string[] {
  const paths = deepPaths(value);
  return paths.length <= MAX_PATHS
    ? paths
    : [...new Set(paths.map((path) => `/${path.split("/")[1]}`))];
}

/** Paths of the values in a state, as deep as its objects go. */
function deepPaths(value: JsonValue | undefined, path = ""): string[] {
  const object = asObject(value);
  const keys = object === undefined ? [] : Object.keys(object);
  if (object === undefined || keys.length === 0) return path === "" ? [] : [path];
  return keys.flatMap((key) =>
    deepPaths(object[key], `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
  );
}
