import { CLASSIFICATIONS, REASON_CODES } from "@countersign/policy";

const CLASSES = CLASSIFICATIONS.map((name) => name[0]?.toUpperCase() + name.slice(1)).join("|");

/** The rule behind each reason that names neither a rule nor a code. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^the policy has no enabled ag_ui block$|^the policy could not be evaluated$/u, "policy"],
  [/^this policy is for \w+ only$/u, "ag_ui.transport"],
  [/^more than \d+ events in one second$/u, "ag_ui.max_events_per_second"],
  [/^event (?:classification|target) mismatch: /u, "ag_ui.classification"],
  [
    /^unknown component (?:type|id)$|^component is blocked$|^target component required$/u,
    "ag_ui_components",
  ],
  [
    new RegExp(
      `^capability required for (?:${CLASSES}) events$|^no capability token provided$`,
      "u",
    ),
    "ag_ui.capability",
  ],
  [/^capability with scope \S+ required$/u, "ag_ui.capability_scopes"],
  [
    /^capability (?:time validation failed|verification failed|has been revoked|has no events left|scope does not authorize)/u,
    "ag_ui.capability",
  ],
  [/^(?:more than [\d.]+ )?events of this kind per \w+ /u, "velocity.*"],
  [/^tools are closed on this thread /u, "ag_ui_tools.quarantine"],
  [/^tool may not be declared by this client$/u, "ag_ui_tools.declare"],
  [/^tool (?:may not be called|was not advertised|arguments )/u, "ag_ui_tools.call"],
  [/^text holds an image of another host/u, "ag_ui_content.images"],
  [/^text holds an address that runs code/u, "ag_ui_content.links"],
  [/^error messages carry no links/u, "ag_ui_content.links_in_errors"],
  [/^text holds active markup/u, "ag_ui_content.markup"],
  [/^text holds characters that a person cannot see/u, "ag_ui_content.hidden"],
  [/^text holds a word that is never shown/u, "ag_ui_content.words"],
  [/^message is longer than \d+ characters/u, "ag_ui_content.max_characters"],
  [/^event brings more than \d+ characters of text/u, "ag_ui_content.max_event_characters"],
  [/^a content part points to an address without a public name/u, "ag_ui_content.sources"],
  [/^(?:blocked by )?condition \S+(?: could not be evaluated)?$/u, "ag_ui_conditions.*"],
  [/^an agent may not speak as \w+$/u, "gateway/role"],
  [/is known in the role of \w+$/u, "gateway/message-role"],
  [
    /^an answer of the person stays|^what was said or answered stays|^the list changes or leaves out what the person said/u,
    "gateway/rewritten",
  ],
  [/^a member reaches for a prototype$/u, "gateway/prototype"],
  [/^the message is of an earlier run/u, "gateway/reopened"],
  [/^a tool call that is whole is not opened again$/u, "gateway/known-call"],
  [/^only the client can answer this tool$/u, "gateway/result"],
  [/^a tool call keeps its name$/u, "gateway/renamed"],
  [/^a raw event may repeat what is withheld$/u, "gateway/raw"],
  [/^the name is reserved for the gateway$/u, "gateway/reserved-name"],
  [/^the tool call was never complete$/u, "gateway/held"],
  [/^nothing is left of what the run asks$/u, "gateway/withheld"],
  [/^invalid (?:event|request): /u, "gateway/invalid"],
  [/^run limit: /u, "gateway/run-limit"],
  [/^what may be shown of the stream does not hold together$/u, "gateway/unsound"],
  [/^the encrypted value is longer than /u, "gateway/encrypted-size"],
  [/^stopped by operator /u, "gateway/operator-stop"],
  [
    /^the person (?:declined|approved) this call|^the call differs from the one the person was shown$|^the tool is named like another/u,
    "gateway/approval",
  ],
];

/** A name in a reason: a code, or a rule before or after its colon. */
const NAMES = [/\b(ERR_[A-Z0-9_]+)/u, /protocol's order: (\S+)/u, /^([a-z-]+\/[a-z-]+): /u];

/** The rules and codes behind a reason on a receipt or in a notice, the nearest first. */
export function namesInReason(reason: string): string[] {
  const named = NAMES.flatMap((pattern) => pattern.exec(reason)?.[1] ?? []);
  const [, rule] = SENTENCES.find(([pattern]) => pattern.test(reason)) ?? [];
  return [...named, ...(rule === undefined ? [] : [rule])].filter((name) => name !== reason);
}

/** The meaning of a `reason_code`, and its rule. */
export function reasonCode(name: string): { means: string; rule: string } | undefined {
  return Object.hasOwn(REASON_CODES, name)
    ? REASON_CODES[name as keyof typeof REASON_CODES]
    : undefined;
}
