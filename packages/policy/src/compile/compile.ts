import type { Aspect, ShownPart } from "../classify/facts.js";
import type { Refinements } from "../classify/refinement.js";
import { compileRefinements } from "../classify/refinement.js";
import { compileContentSettings } from "../content/settings.js";
import type { ContentSettings } from "../content/settings.js";
import type { LoadedPolicy } from "../document/load.js";
import { hashDocument } from "../document/load.js";
import type { AgUiBlock, OnBlock, PolicyDocument, PolicyMode } from "../document/model.js";
import { hasAgUiBlock } from "../document/model.js";
import { matchesGlob } from "../patterns/glob.js";
import { compileEvidenceSettings } from "./evidence-settings.js";
import type { EvidenceSettings } from "./evidence-settings.js";
import { compileMessageSettings, listJudgement } from "./message-settings.js";
import type { MessageSettings } from "./message-settings.js";
import { compileRequestSettings } from "./request-settings.js";
import type { RequestSettings } from "./request-settings.js";
import { compileCapabilityRules } from "./capability-rules.js";
import { compileComponentRule } from "./component-rule.js";
import { compileConditionRules } from "./condition-rules.js";
import { compileAppRules } from "./app-rules.js";
import { compileContentRule } from "./content-rule.js";
import type { Decision, Denial } from "./decision.js";
import { ALLOW, MAX_FURTHER_RULES, observed } from "./decision.js";
import { compileExactScopeRule } from "./exact-scope-rule.js";
import { explainRules } from "./explain.js";
import type { Trace } from "./explain.js";
import type { DecisionFacts } from "./facts.js";
import type { Rule } from "./rule.js";
import { blockSettings, denials, isActive } from "./rule.js";
import { quoted, requestsOf } from "./surface-check.js";
import { compileSurfaceRules } from "./surface-rules.js";
import type { AppSettings, SurfaceSettings } from "./surface-settings.js";
import { compileAppSettings, compileSurfaceSettings } from "./surface-settings.js";
import { compileStreamRules, DEFAULT_EVENTS_PER_SECOND } from "./stream-rules.js";
import { compileToolRules } from "./tool-rules.js";
import { compileVelocity } from "./velocity-rules.js";
import type { VelocityLimit } from "./velocity-rules.js";

/** The limits that a counter tracks for a policy. */
export type PolicyCounterLimits = {
  readonly maxEventsPerSecond: number;
  readonly velocity: readonly VelocityLimit[];
};

/**
 * A compiled policy. Pure and synchronous; never throws on data; returns one shared object for
 * every allow.
 */
export type CompiledPolicy = {
  /** SHA-256 (hex) of the resolved document, for log entries. */
  readonly hash: string;
  readonly name: string | undefined;
  readonly mode: PolicyMode;
  readonly onBlock: OnBlock;
  readonly document: PolicyDocument;
  /** The policy's additions to the classification table, for `classifyEvent`. */
  readonly refinements: Refinements;
  readonly limits: PolicyCounterLimits;
  /** The request settings, with every default filled in. */
  readonly request: RequestSettings;
  /** The message list settings, with every default filled in. */
  readonly messages: MessageSettings;
  /** The content settings; `undefined` if the policy has none. */
  readonly content: ContentSettings | undefined;
  /** The parts of payloads that an evidence store may keep. */
  readonly evidence: EvidenceSettings;
  /** `ag_ui_surfaces` with its defaults: `limits` are for `createSurfaceModel`. */
  readonly surfaces: SurfaceSettings;
  /** `ag_ui_apps` with its defaults: `csp` is for the domains of an app that its page gets. */
  readonly apps: AppSettings;
  /** Ids of the rules of the document's blocks, in evaluation order. */
  readonly rules: readonly string[];
  evaluate(facts: DecisionFacts): Decision;
  /** The same decision with every rule, its input and its result. */
  explain(facts: DecisionFacts): Trace;
  /** Whether a call of this tool must be held until its arguments are complete. */
  needsArguments(toolName: string): boolean;
  /**
   * Milliseconds within which denied calls of a thread count against its tools; undefined if they
   * do not.
   */
  readonly quarantineMs: number | undefined;
};

/**
 * Compiles a policy.
 *
 * @throws TypeError or RangeError when a document was not loaded with `loadPolicy` and contains an
 * expression that does not compile
 */
export function compilePolicy(source: LoadedPolicy | PolicyDocument): CompiledPolicy {
  const document = "document" in source ? source.document : source;
  const hash = "document" in source ? source.hash : hashDocument(source);
  const { mode, onBlock } = blockSettings(document, undefined);
  const tools = compileToolRules(document);
  const velocity = compileVelocity(document);
  const rules = compileRules(document, tools.rules, velocity.rules);
  const [surfaces, apps] = [compileSurfaceSettings(document), compileAppSettings(document)];
  // Rules about generative UI also apply without their blocks.
  const forSurfaces = isActive(agUiBlock(document))
    ? [...rules, ...compileSurfaceRules(document, surfaces), ...compileAppRules(document, apps)]
    : rules;
  const rulesFor = (facts: DecisionFacts): readonly Rule[] =>
    isAboutSurfaces(facts) ? forSurfaces : rules;
  const failed = denials("policy", onBlock)(
    "evaluation_failed",
    "the policy could not be evaluated",
  );
  const heldTools = toolsOfConditions(document);
  const request = openRequest(document);
  const evaluate = createEvaluator(rulesFor, failed, mode);
  return {
    hash,
    name: document.name,
    mode,
    onBlock,
    document,
    refinements: compileRefinements(
      document.rules.ag_ui_classify,
      request.listsProperty,
      listJudgement(document),
    ),
    limits: {
      maxEventsPerSecond: document.rules.ag_ui?.max_events_per_second ?? DEFAULT_EVENTS_PER_SECOND,
      velocity: velocity.limits,
    },
    request: request.settings,
    messages: compileMessageSettings(document),
    content: compileContentSettings(document),
    evidence: compileEvidenceSettings(document),
    surfaces,
    apps,
    // Rules that every policy has by default are not what its author wrote.
    rules: forSurfaces
      .filter((rule) => rules.includes(rule) || document.rules[rule.block] !== undefined)
      .map((rule) => rule.id),
    evaluate,
    explain: (facts) => explainRules(rulesFor(facts), facts, evaluate(facts)),
    quarantineMs: tools.quarantineMs,
    needsArguments: (name) =>
      tools.schemas.has(name) || heldTools.some((pattern) => matchesGlob(pattern, name)),
  };
}

/** The request settings, and the properties that a policy allows by listing them. */
function openRequest(document: PolicyDocument): {
  settings: RequestSettings;
  listsProperty: (key: string) => boolean;
} {
  const settings = compileRequestSettings(document);
  const isOn = settings.mode("forwarded_props") !== "off";
  return { settings, listsProperty: isOn ? settings.forwardedProps.allowsKey : () => false };
}

/** Patterns of tools whose arguments a condition reads. */
function toolsOfConditions(document: PolicyDocument): string[] {
  return (document.rules.ag_ui_conditions?.rules ?? []).flatMap(({ match, when }) => {
    if (match?.tool !== undefined) return [match.tool];
    return when.includes("arguments") ? ["*"] : [];
  });
}

// The order only determines which of several reasons a blocked event gets.
function compileRules(
  document: PolicyDocument,
  tools: readonly Rule[],
  velocity: readonly Rule[],
): readonly Rule[] {
  const block = agUiBlock(document);
  if (!isActive(block)) return [denyAll(document)];
  return [
    ...compileStreamRules(document, block),
    ...compileComponentRule(document),
    ...compileCapabilityRules(document, block),
    ...compileExactScopeRule(document, block),
    ...velocity,
    ...tools,
    ...compileContentRule(document),
    ...compileConditionRules(document),
  ];
}

/** Text streams do not pay for rules about surfaces; what cannot be read gets them. */
function isAboutSurfaces(facts: DecisionFacts): boolean {
  try {
    if (facts.surface !== undefined) return true;
    if (facts.event.direction !== "inbound") return false;
    const context = facts.variables?.event?.["context"];
    return (Array.isArray(context) && context.length > 0) || requestsOf(facts).length > 0;
  } catch {
    return true;
  }
}

/**
 * A fragment about components or tools alone is still about AG-UI: the defaults of `ag_ui` apply,
 * and they require a capability. A document without any such block has no rules, so nothing is
 * allowed.
 */
function agUiBlock(document: PolicyDocument): AgUiBlock | undefined {
  const { rules } = document;
  if (rules.ag_ui !== undefined) return rules.ag_ui;
  return hasAgUiBlock(rules) ? {} : undefined;
}

function denyAll(document: PolicyDocument): Rule {
  const { mode, onBlock } = blockSettings(document, undefined);
  const denial = denials("policy", onBlock)("no_rules", "the policy has no enabled ag_ui block");
  return {
    id: "policy",
    block: "ag_ui",
    mode,
    perAspect: false,
    check: () => denial,
    saw: () => ({ ag_ui: false }),
  };
}

function createEvaluator(
  rulesFor: (facts: DecisionFacts) => readonly Rule[],
  failed: Denial,
  mode: PolicyMode,
): (facts: DecisionFacts) => Decision {
  return (facts) => {
    const observing = facts.mode === "observe";
    let remembered: Denial | undefined;
    let further: string[] | undefined;
    for (const rule of rulesFor(facts)) {
      let denial: Denial | undefined;
      let enforced = rule.mode === "enforce";
      try {
        denial = checkRule(rule, facts);
      } catch {
        // Undecided means denied; the rules after it are still evaluated.
        denial = failed;
        enforced ||= mode === "enforce";
      }
      if (denial === undefined) continue;
      if (enforced && !observing) return denial;
      if (remembered === undefined) remembered = denial;
      else if (denial.rule !== remembered.rule) further = withRule(further, denial.rule);
    }
    return remembered === undefined ? ALLOW : observed(remembered, further);
  };
}

function withRule(rules: string[] | undefined, rule: string): string[] {
  if (rules === undefined) return [rule];
  if (rules.length < MAX_FURTHER_RULES && !rules.includes(rule)) rules.push(rule);
  return rules;
}

function checkRule(rule: Rule, facts: DecisionFacts): Denial | undefined {
  const { event } = facts;
  const denial = rule.check(facts, event);
  if (denial !== undefined) return rule.perAspect ? placed(denial, event) : denial;
  if (!rule.perAspect || event.also === undefined) return denial;
  for (const aspect of event.also) {
    const further = rule.check(facts, aspect);
    if (further !== undefined) return placed(further, aspect);
  }
  return undefined;
}

/** The denial with the path or component of the effect that it is about. */
function placed(denial: Denial, { path, shown }: Aspect): Denial {
  if (path === undefined && shown === undefined) return denial;
  const named = shown === undefined ? denial : naming(denial, shown);
  return Object.freeze(path === undefined ? named : { ...named, path });
}

function naming(denial: Denial, component: ShownPart): Denial {
  const reason = `${denial.reason}: ${quoted(component.type).slice(1, -1)} ${quoted(component.id)}`;
  return { ...denial, reason, component };
}
