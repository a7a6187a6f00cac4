import {
  actsNamed,
  actsOfType,
  CLASSIFICATION_TABLE,
  CLASSIFICATIONS,
  componentActs,
  findPolicyKey,
  openAct,
  openClass,
  UI_EVENT_TYPES,
  writeLines,
} from "@countersign/policy";
import type {
  Act,
  ClassificationRow,
  Classification,
  Opening,
  PolicyDocument,
} from "@countersign/policy";
import { findSchemaKey } from "@countersign/policy/yaml";
import type { SchemaKey } from "@countersign/policy/yaml";
import { DEVIATIONS, EMITTER_PROFILES, NOTE_MESSAGES, PROFILES } from "@countersign/wire/dialects";
import type { Deviation } from "@countersign/wire/dialects";
import { CONFIG_SCHEMA } from "../config/schema.js";
import { METRICS } from "../telemetry/catalogue.js";
import type { MetricFacts } from "../telemetry/catalogue.js";
import { explainCode, openingsOfCode } from "./explain-code.js";
import { explainRule } from "./explain-rule.js";
import type { NamedOpening } from "./explain-code.js";
import { namesInReason, namesInText, partsOf, reasonCode } from "./reasons.js";
import { namesOfSentence } from "./sentences.js";

/** The meaning of a name on a receipt, in a notice, an error, the log or a metric. */
export type NameMeaning = {
  readonly name: string;
  /** The kind of name. */
  readonly kind: string;
  readonly means: string;
  readonly remedy?: string;
  readonly openings: readonly NamedOpening[];
};

const PROBLEM = "urn:countersign:problem:";

const PASSES = "the policy already allows it";
const NOTHING_BLOCKED = "the gateway blocked nothing: this name reports what it did";

/**
 * Explains any name that the gateway prints, with the lines that open it in this policy;
 * `undefined` for an unknown name.
 */
export function explainName(given: string, document: PolicyDocument): NameMeaning | undefined {
  const name = given.startsWith(PROBLEM) ? given.slice(PROBLEM.length) : given;
  for (const explain of EXPLAINERS) {
    const meaning = explain(name, document);
    if (meaning !== undefined) return meaning;
  }
  return undefined;
}

type Explainer = (name: string, document: PolicyDocument) => NameMeaning | undefined;

const EXPLAINERS: readonly Explainer[] = [
  ruleMeaning,
  nativeMeaning,
  codeMeaning,
  reasonCodeMeaning,
  repairMeaning,
  keyMeaning,
  metricMeaning,
  wordMeaning,
  fixedMeaning,
  actMeaning,
  sentenceMeaning,
  reasonMeaning,
  embeddedMeaning,
  componentMeaning,
];

function ruleMeaning(name: string): NameMeaning | undefined {
  const rule = explainRule(name);
  if (rule === undefined) return undefined;
  const { means, remedy, opening } = rule;
  return { name, kind: "rule", means, remedy, openings: [{ opening }] };
}

function codeMeaning(name: string): NameMeaning | undefined {
  const code = explainCode(name);
  if (code === undefined) return undefined;
  const { title = "a code of a rejected request or of a failed run", remedy } = code;
  return { name, kind: "code", means: title, remedy, openings: openingsOfCode(name) };
}

function nativeMeaning(name: string, document: PolicyDocument): NameMeaning | undefined {
  if (!Object.hasOwn(CLASSIFICATION_TABLE, name)) return undefined;
  const row: ClassificationRow = CLASSIFICATION_TABLE[name as keyof typeof CLASSIFICATION_TABLE];
  return {
    name,
    kind: "AG-UI event",
    means: `${row.eventType}, ${row.classification}: ${row.reason}`,
    openings: openingsOf(actsOfType(name), document, PASSES),
  };
}

function reasonCodeMeaning(name: string): NameMeaning | undefined {
  const code = reasonCode(name);
  const rule = code === undefined ? undefined : ruleMeaning(code.rule);
  if (code === undefined || rule === undefined) return undefined;
  return { ...rule, name, kind: `reason code of ${code.rule}`, means: code.means };
}

/** Notes about a stream: the change of a translation, or the repaired deviation of a framework. */
function repairMeaning(name: string): NameMeaning | undefined {
  const deviations = Object.entries(DEVIATIONS) as [string, Deviation][];
  const found = deviations.find(([id, { note }]) => id === name || note === name);
  if (found !== undefined) {
    const [id, { sends, repair }] = found;
    const frameworks = Object.entries(PROFILES).flatMap(([framework, rows]) =>
      rows.some(({ deviation }) => deviation === id) ? [framework] : [],
    );
    return {
      name,
      kind: `deviation of ${frameworks.join(", ")}`,
      means: `the agent sends ${sends}; ${repair ?? "the gateway does not repair it"}`,
      remedy: "update the framework; `profile: strict` turns repairs off",
      openings: [
        { opening: { passes: NOTHING_BLOCKED } },
        { about: "without repairs", opening: { config: profileLine("strict") } },
      ],
    };
  }
  if (Object.hasOwn(NOTE_MESSAGES, name)) {
    const means = NOTE_MESSAGES[name as keyof typeof NOTE_MESSAGES];
    const opening = { passes: NOTHING_BLOCKED };
    return { name, kind: "note of a translation", means, openings: [{ opening }] };
  }
  const profile = EMITTER_PROFILES.find((one) => one === name || `profile:${one}` === name);
  if (profile === undefined) return undefined;
  const rows = Object.hasOwn(PROFILES, profile) ? PROFILES[profile as keyof typeof PROFILES] : [];
  const sends = rows.map(({ deviation }) => DEVIATIONS[deviation].sends);
  const known = sends.length === 0 ? "no deviation is known" : sends.join("; ");
  return {
    name,
    kind: "emitter profile",
    means:
      profile === "auto"
        ? "the gateway repairs every known deviation of a framework"
        : profile === "strict"
          ? "the gateway repairs no deviation"
          : known,
    openings: [{ opening: { config: profileLine(profile) } }],
  };
}

function profileLine(profile: string): string {
  return `agents: { NAME: { url: http://127.0.0.1:8000/, profile: ${profile} } }`;
}

/** A block or a key of the policy, or of `countersign.yaml`. */
function keyMeaning(name: string): NameMeaning | undefined {
  const inPolicy = findPolicyKey(name);
  if (inPolicy !== undefined) {
    const lines = writeLines(inPolicy.example);
    const opening: Opening = /^(?:ag_ui|velocity)/u.test(name.replace(/^rules\./u, ""))
      ? { policy: lines }
      : { passes: `this key blocks nothing by itself; write it like this:\n${lines}` };
    return { name, kind: "key of the policy", ...described(inPolicy), openings: [{ opening }] };
  }
  const key = findSchemaKey(CONFIG_SCHEMA, name.replace(/<name>/gu, "NAME"));
  if (key === undefined) return undefined;
  const { agents, ...example } = key.example;
  const opening = {
    config: writeLines(name.startsWith("agents") ? { agents: agents ?? {} } : example),
  };
  return { name, kind: "key of countersign.yaml", ...described(key), openings: [{ opening }] };
}

function described({ description, choices, default: otherwise }: SchemaKey): { means: string } {
  const told = [
    choices === undefined ? "" : `one of ${choices.join(", ")}`,
    otherwise === undefined ? "" : `${JSON.stringify(otherwise)} when left out`,
  ].filter((text) => text !== "");
  return { means: `${description}${told.length === 0 ? "" : ` (${told.join("; ")})`}` };
}

function metricMeaning(name: string): NameMeaning | undefined {
  if (!Object.hasOwn(METRICS, name)) return undefined;
  const { type, help, labels }: MetricFacts = METRICS[name as keyof typeof METRICS];
  const means = labels.length === 0 ? help : `${help} (labels: ${labels.join(", ")})`;
  const opening = { passes: "a metric blocks nothing; explain the rule or code in its labels" };
  return { name, kind: type, means, openings: [{ opening }] };
}

const CLASS_MEANS: Readonly<Record<Classification, string>> = {
  display: "shows something and changes nothing",
  alert: "draws the user's attention",
  mutate: "changes data of the application or the conversation",
  create: "puts a new component on the screen",
  destroy: "removes a component from the screen",
  navigate: "opens another page or address",
  submit: "asks the user for an answer, or gives one",
};

/** Classes and event types, as a receipt has them. */
function wordMeaning(name: string, document: PolicyDocument): NameMeaning | undefined {
  const classification = CLASSIFICATIONS.find((one) => one === name);
  if (classification !== undefined) {
    const means = `an event of this class ${CLASS_MEANS[classification]}`;
    const opening = openClass(document, classification);
    const about =
      "every event of this class, for every user; allow single names instead if you can";
    return { name, kind: "class", means, openings: [{ about, opening }] };
  }
  if (!UI_EVENT_TYPES.some((one) => one === name)) return undefined;
  const types = Object.entries(CLASSIFICATION_TABLE).flatMap(([type, row]) =>
    row.eventType === name ? [type] : [],
  );
  const acts = [...new Map(types.flatMap(actsOfType).map((act) => [act.about, act])).values()];
  return {
    name,
    kind: "event type",
    means:
      types.length === 0
        ? "events of a tool or an envelope that the policy or the sender assigns to this kind"
        : `the AG-UI events ${types.join(", ")}`,
    openings: openingsOf(acts, document, "the class of the event decides; explain the class"),
  };
}

/** Placeholders on receipts, for an absent name. */
const FIXED: Readonly<Record<string, Omit<NameMeaning, "name" | "openings"> & { closed: string }>> =
  {
    "custom:unknown tool call": {
      kind: "event without a name",
      means:
        "an event belongs to a tool call without a TOOL_CALL_START in the stream or on the thread, and no answered interrupt names its tool",
      remedy:
        "change the agent to send TOOL_CALL_START before the other events of a call, or to name one tool in the metadata of the interrupt about the call (`toolName`)",
      closed: "without TOOL_CALL_START the gateway does not know the tool, so no list can name it",
    },
    "custom:invalid event": {
      kind: "event without a name",
      means: "the agent sent something that is not an AG-UI event",
      remedy: "explain the code in the receipt's reason",
      closed: "the gateway cannot evaluate a value that it cannot parse",
    },
    "custom:run limit": {
      kind: "event without a name",
      means: "the run reached a limit of `limits`",
      remedy: "explain gateway/run-limit",
      closed: "explain gateway/run-limit, which has the lines of each limit",
    },
  };

function fixedMeaning(name: string): NameMeaning | undefined {
  if (Object.hasOwn(FIXED, name)) {
    const { closed, ...rest } = FIXED[name] as (typeof FIXED)[string];
    return { name, ...rest, openings: [{ opening: { closed } }] };
  }
  // An agent may not use the gateway's own prefix, whatever a policy says of the name.
  if (!/^(?:custom:)?countersign\.(?!ui_render_hint$)/u.test(name)) return undefined;
  const rule = ruleMeaning("gateway/reserved-name");
  return rule && { ...rule, name, kind: "event of the gateway" };
}

function actMeaning(name: string, document: PolicyDocument): NameMeaning | undefined {
  const acts = actsNamed(name);
  if (acts.length === 0) return undefined;
  const means = acts.map(({ about }) => about).join(", or ");
  const openings = openingsOf(acts, document, PASSES);
  return { name, kind: "event of an agent or request of a client", means, openings };
}

/** A component on the screen, as a receipt names it: `type` or `type:id`. */
function componentMeaning(name: string, document: PolicyDocument): NameMeaning | undefined {
  if (
    !/^\p{L}[\p{L}\p{M}\p{N}_.-]{0,127}(?::\S{1,256})?$/u.test(name) ||
    /^ag_ui|^gateway|^ERR_/u.test(name)
  ) {
    return undefined;
  }
  const means =
    "a component, as a receipt names it; for a tool or an event use tool:NAME or custom:NAME";
  const openings = openingsOf(componentActs(name), document, PASSES);
  return { name, kind: "component", means, openings };
}

function reasonMeaning(name: string, document: PolicyDocument): NameMeaning | undefined {
  const [meaning] = namesInReason(name).flatMap((one) => explainName(one, document) ?? []);
  if (meaning === undefined) return undefined;
  const openings = meaning.kind === "code" ? openingsOfCode(meaning.name, name) : meaning.openings;
  return { ...meaning, openings, kind: `reason of ${meaning.kind} ${meaning.name}`, name };
}

/** A text with the name of a rule or a code in it, such as a line of the log. */
function embeddedMeaning(text: string): NameMeaning | undefined {
  if (!/\s|^\{/u.test(text)) return undefined;
  const [meaning] = namesInText(text).flatMap((one) => ruleMeaning(one) ?? codeMeaning(one) ?? []);
  return meaning && { ...meaning, kind: `text with the ${meaning.kind} ${meaning.name}` };
}

/** A title, a fix or a meaning of the tables; several codes may share one. */
function sentenceMeaning(name: string, document: PolicyDocument): NameMeaning | undefined {
  const names = partsOf(name)
    .map(namesOfSentence)
    .find(({ length }) => length > 0);
  const [only, ...others] = names ?? [];
  if (only === undefined) return undefined;
  if (others.length === 0) {
    const meaning = explainName(only, document);
    return meaning && { ...meaning, kind: `sentence of ${meaning.kind} ${only}`, name };
  }
  const closed = "several codes share this sentence; explain the code or the rule next to it";
  return {
    name,
    kind: "sentence",
    means: `the product prints it for ${[only, ...others].join(", ")}`,
    remedy: "explain the code or the rule next to it",
    openings: [{ opening: { closed } }],
  };
}

/**
 * The openings of acts, each with its subject; for an act that the policy allows, a sentence that
 * says so.
 */
function openingsOf(
  acts: readonly Act[],
  document: PolicyDocument,
  passes: string,
): readonly NamedOpening[] {
  if (acts.length === 0) return [{ opening: { passes } }];
  return acts.map((act) => {
    const { opening = { passes: PASSES } } = openAct(document, act);
    return { about: act.about, opening };
  });
}
