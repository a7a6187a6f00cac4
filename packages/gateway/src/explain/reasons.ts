import { parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
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
  [
    /^tool (?:may not be called|was not advertised|arguments (?:are not|do not) )/u,
    "ag_ui_tools.call",
  ],
  [/^text holds an image of another host/u, "ag_ui_content.images"],
  [/^text holds an address that runs code/u, "ag_ui_content.links"],
  [/^error messages carry no links/u, "ag_ui_content.links_in_errors"],
  [/^text holds active markup/u, "ag_ui_content.markup"],
  [/^text holds characters that a person cannot see/u, "ag_ui_content.hidden"],
  [/^text holds a word that is never shown/u, "ag_ui_content.words"],
  [/^message is longer than \d+ characters/u, "ag_ui_content.max_characters"],
  [/^event brings more than \d+ characters of text/u, "ag_ui_content.max_event_characters"],
  [/^a content part points to an address without a public name/u, "ag_ui_content.sources"],
  [/is of a catalogue that the policy does not list$/u, "ag_ui_surfaces.catalogues"],
  [/is not a component that the policy lists for its catalogue$/u, "ag_ui_surfaces.components"],
  [/has properties that do not fit their schema$/u, "ag_ui_surfaces.props"],
  [
    /has in its text an image of a host that the policy does not list$|has text that only ag_ui_content can open: |a URL that is not written as text$/u,
    "ag_ui_surfaces.urls",
  ],
  [/^send a message of the conversation through this gateway, and ask /u, "ERR_HISTORY_INVENTED"],
  [/is of the server .+, which the policy does not list$/u, "ag_ui_apps.servers"],
  [/is a resource that the policy does not list$/u, "ag_ui_apps.resources"],
  [/is HTML that the agent wrote$|has (?:a form|scripts)$/u, "ag_ui_apps.html"],
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
  [
    /^the forwarded part of the stream is not valid AG-UI$|^what may be shown of the stream does not hold together$/u,
    "gateway/unsound",
  ],
  [/^the encrypted value is longer than /u, "gateway/encrypted-size"],
  [/^stopped by operator /u, "gateway/operator-stop"],
  [
    /^the person (?:declined|approved) this call|^the call differs from the one the person was shown$|^the tool is named like another|^the arguments cannot be compared with what the person saw$/u,
    "gateway/approval",
  ],
  [
    /^the person has not answered about this call$|^the run before it asked the person|^the question has the id of another that is open$/u,
    "gateway/unanswered",
  ],
  [
    /^the call has the id of another message$|^the message is a result of the client's own tool$/u,
    "gateway/message-role",
  ],
  [/^a message in the person's name that they did not send/u, "ag_ui_messages.unknown_user"],
  [/^instructions that were not sent on this thread$/u, "ag_ui_messages.unknown_system"],
  [/^the thread belongs to (?:another principal|somebody else)$/u, "ERR_THREAD_OWNER"],
  [
    /^this run id was used before$|^the session has an open run with this id$/u,
    "ERR_RUN_ID_REUSED",
  ],
  [
    /^the (?:thread|socket) has an open run$|^the thread has a run open$|^a run is still going on this socket$/u,
    "ERR_RUN_ACTIVE",
  ],
  [
    /^message \d+ speaks as \w+ and was not delivered here|^message \d+ has an encrypted value of its own$|ag_ui_request: \{ history: \{ (?!rollback)/u,
    "ERR_HISTORY_INVENTED",
  ],
  [
    /^message \d+ (?:has the id of another|differs from what was delivered)$/u,
    "ERR_HISTORY_REWRITTEN",
  ],
  [/^message \d+ was open when the gateway ended$/u, "ERR_HISTORY_UNFINISHED"],
  [/^a new message stands in front of one that was delivered/u, "ERR_HISTORY_INTERLEAVED"],
  [
    /^a message of the history is (?:there twice|missing)$|^a new message stands inside the history|^only new messages are accepted$|^the history has another order$|^(?:part|the end) of the history is missing$|ag_ui_request: \{ history: \{ rollback/u,
    "ERR_HISTORY_DROPPED",
  ],
  [/^the call it answers was not delivered on this thread$/u, "ERR_TOOL_RESULT_UNKNOWN"],
  [/^the call was answered before$/u, "ERR_TOOL_RESULT_TWICE"],
  [/^the tool it answers for is not the client's$/u, "ERR_TOOL_RESULT_FOREIGN"],
  [/^the interrupt is not open on this thread$/u, "ERR_RESUME_UNKNOWN"],
  [/^an open interrupt is not answered$/u, "ERR_RESUME_INCOMPLETE"],
  [/^the interrupt's time is over$/u, "ERR_RESUME_EXPIRED"],
  [/^the answer does not fit the interrupt's schema$/u, "ERR_RESUME_MISMATCH"],
  [/^the interrupt was answered before$/u, "ERR_RESUME_ANSWERED"],
  [/^tool \d+ has (?:a name that is not plain ASCII|the name of another)/u, "ERR_TOOLS_NAME"],
  [/^tool \d+ takes the name of a tool /u, "ERR_TOOLS_SHADOWED"],
  [
    /^tool \d+ is not pinned; |^review the tool, then add to the policy under rules/u,
    "ERR_TOOLS_UNPINNED",
  ],
  [
    /^the state (?:is larger than \d+ bytes|has a key that is not allowed)|ag_ui_request: \{ state: /u,
    "ERR_STATE_REFUSED",
  ],
  [
    /^the context (?:is larger than|has more than|has an entry)|ag_ui_request: \{ context: /u,
    "ERR_CONTEXT_REFUSED",
  ],
  [
    /^the forwarded properties (?:are larger than|have a key)|ag_ui_request: \{ forwarded_props: /u,
    "ERR_FORWARDED_PROPS_REFUSED",
  ],
  [/^the value is no click and no request of an app$/u, "ERR_REQUEST_ACTION_UNREADABLE"],
  [
    /^the thread shows no (?:such component with this action|component that calls this function)$/u,
    "ERR_REQUEST_ACTION_UNKNOWN",
  ],
  [/^the context has a key that the action does not declare$/u, "ERR_REQUEST_ACTION_CONTEXT"],
  [/^the action was used before$/u, "ERR_REQUEST_ACTION_USED"],
  [/^the thread shows no app (?:of this server|with this resource)$/u, "ERR_REQUEST_APP_UNKNOWN"],
  [/^an app may not send this method, or not without/u, "ERR_REQUEST_APP_METHOD"],
  [
    /^AG-UI does not define (?:the role of|any content part of|a part of) |^a key is another spelling of one that AG-UI defines$|^spell the key as AG-UI does$|^send the (?:message|text or the file) in a (?:role|content part) that AG-UI defines$/u,
    "ERR_INBOUND_UNKNOWN_KEY",
  ],
  [/^no run is open on the socket$/u, "ERR_MESSAGE_NO_RUN"],
  [/^the agent takes no messages on its transport$/u, "ERR_MESSAGE_ONE_WAY"],
  [/^hand the session a token \(POST \/v1\/capabilities\), or open it/u, "ag_ui.capability"],
  [/^the run takes longer than limits\.run_timeout$/u, "ERR_RUN_TIME"],
  [/^the agent sent no event for longer than limits\.run_silence$/u, "ERR_RUN_SILENCE"],
  [/^the run has more events than limits\.run_events$/u, "ERR_RUN_EVENTS"],
  [/^the run has more bytes than limits\.run_bytes$/u, "ERR_RUN_BYTES"],
  [/^the agent's stream ended before its run(?: did)?$/u, "AGENT_STREAM_TRUNCATED"],
  [/^the agent's stream ended; its dialect does not show/u, "AGENT_STREAM_WITHOUT_END"],
  [/^the gateway could not record the decision$/u, "RECEIPTS_UNAVAILABLE"],
  [
    /^add to the policy under rules: ag_ui_classify: \{ interrupts: |^countersign policy explain with this receipt says what opens the question$/u,
    "gateway/withheld",
  ],
  [/^This origin is not allowed/u, "ORIGIN_NOT_ALLOWED"],
  [/^No agent with this name is configured$/u, "AGENT_UNKNOWN"],
  [/^Invalid stop request$/u, "STOP_UNREADABLE"],
  [/^Invalid address$/u, "BAD_ADDRESS"],
  [/^Use .{1,40} here$/u, "METHOD_NOT_ALLOWED"],
  [/^Not found$/u, "NOT_FOUND"],
  [/^The gateway does not serve this route of the runtime$/u, "RUNTIME_ROUTE_CLOSED"],
  [/^The gateway has no such route of the runtime$/u, "RUNTIME_ROUTE_UNKNOWN"],
  [/^The gateway serves no such agent of the runtime$/u, "RUNTIME_AGENT_CLOSED"],
  [/^The body is not a call of the runtime$/u, "RUNTIME_CALL_UNREADABLE"],
  [/^The stream needs \?session=/u, "SESSION_MISSING"],
  [/^The gateway could not handle the request$/u, "INTERNAL"],
  [
    /\. The gateway withheld a question of the agent\. If the next message fails too/u,
    "gateway/withheld",
  ],
];

/** A code in a sentence, or the rule of the protocol's order. */
const NAMES = [/\b(ERR_[A-Z0-9_]+)/u, /protocol's order: (\S+)/u, /^([a-z-]+\/[a-z-]+): /u];

/** The form of a rule, and of a code of a stream. */
const EMBEDDED = /\b[a-z_]+(?:[./][a-z_-]+)+|\b[A-Z]+(?:_[A-Z]+)+\b/gu;

/** Parts of one sentence that are tried; a sentence of the product has fewer. */
const MAX_PARTS = 16;

/** The sentence without a prefix (`CODE: `), and without the place behind it (`, at /messages/0: ID`). */
export function partsOf(text: string): string[] {
  const whole = text.trim();
  const parts = [whole];
  for (const { index } of whole.matchAll(/: /gu)) parts.push(whole.slice(index + 2));
  return parts
    .slice(0, MAX_PARTS)
    .flatMap((part) => [
      part,
      part.replace(/, at \/.*$/su, ""),
      part.replace(/;.* was not sent up.*$/su, ""),
    ])
    .map((part) => part.replace(/\.$/u, ""));
}

/** The texts of a JSON document (a log line, a notice, a problem, a receipt), or the text itself. */
function textsOf(given: string): string[] {
  if (!given.trimStart().startsWith("{")) return [given];
  try {
    return stringsIn(parseJson(given.trim())).slice(0, MAX_PARTS * 4);
  } catch {
    return [given];
  }
}

function stringsIn(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap((one) => stringsIn(one as JsonValue))
    : [];
}

/** The rules and codes behind a sentence that the product prints, the nearest first. */
export function namesInReason(reason: string): string[] {
  const texts = textsOf(reason);
  const named = texts.flatMap((text) => NAMES.flatMap((pattern) => pattern.exec(text)?.[1] ?? []));
  const parts = texts.flatMap(partsOf);
  const rules = parts.flatMap(
    (part) => SENTENCES.find(([pattern]) => pattern.test(part))?.[1] ?? [],
  );
  return [...new Set([...named, ...rules])].filter((name) => name !== reason);
}

/** Rules and codes that stand in a line of the log, a notice or another text. */
export function namesInText(text: string): string[] {
  return (text.match(EMBEDDED) ?? []).filter((name) => name !== text);
}

/** The meaning of a `reason_code`, and its rule. */
export function reasonCode(name: string): { means: string; rule: string } | undefined {
  return Object.hasOwn(REASON_CODES, name)
    ? REASON_CODES[name as keyof typeof REASON_CODES]
    : undefined;
}
