import type { JsonObject, JsonValue } from "@countersign/core";
import { isJsonObject } from "@countersign/core";
import type { Classification } from "../vocabulary/classification.js";
import type { UiEventType } from "../vocabulary/event-type.js";
import { componentClass, hasVerb } from "./envelope-verbs.js";

/** Checks the value of one member of a payload. */
type MemberCheck = (value: JsonValue) => boolean;

const isText: MemberCheck = (value) => typeof value === "string";
const isNumber: MemberCheck = (value) => typeof value === "number";
const isFlag: MemberCheck = (value) => typeof value === "boolean";
const isScalar: MemberCheck = (value) => value === null || typeof value !== "object";
const isScalars: MemberCheck = (value) =>
  isJsonObject(value) && Object.values(value).every(isScalar);
const isOneOf = (...words: readonly string[]): MemberCheck => {
  const known: ReadonlySet<JsonValue> = new Set(words);
  return (value) => known.has(value);
};

const members = (check: MemberCheck, ...names: readonly string[]): Record<string, MemberCheck> =>
  Object.fromEntries(names.map((name) => [name, check]));

/** Members that name a message. */
export const MESSAGE_IDS: readonly string[] = ["id", "message_id", "messageId"];
/** Members that name the run, the thread or the parent run, with the spellings of each. */
export const RUN_IDS: readonly (readonly string[])[] = [
  ["run_id", "runId"],
  ["thread_id", "threadId"],
  ["parent_run_id", "parentRunId"],
];
const IDS = members(isText, ...MESSAGE_IDS, ...RUN_IDS.flat());

/** Members of a `text_stream` payload that a client appends to a message. */
export const APPENDED_MEMBERS: readonly string[] = ["text", "delta", "content", "chunk"];

/** A closed payload form without nested objects, whose type alone determines the class. */
export type PayloadForm = {
  readonly members: Readonly<Record<string, MemberCheck>>;
  /**
   * Groups of members of which a payload has at most one: clients differ in which of two they read.
   */
  readonly alternatives?: readonly (readonly string[])[];
  /** The class of a payload of this form. */
  readonly classification: Classification;
  /** The class of every other payload of the type. */
  readonly otherwise: Classification;
};

/**
 * The payloads whose class is that of their type. A payload with any other member could contain a
 * form or a button, and the client decides how to use it: the strictest class.
 */
export const PAYLOAD_FORMS: Readonly<Partial<Record<UiEventType, PayloadForm>>> = {
  text_stream: {
    members: {
      ...IDS,
      ...members(isText, ...APPENDED_MEMBERS, "language", "model"),
      timestamp: isNumber,
      ...members(isFlag, "done", "final", "partial"),
      role: isOneOf("assistant"),
      format: isOneOf("markdown", "text", "plain"),
    },
    alternatives: [APPENDED_MEMBERS, MESSAGE_IDS, ...RUN_IDS],
    classification: "display",
    otherwise: "submit",
  },
  error: {
    members: {
      ...IDS,
      ...members(isText, "message", "text", "title", "name", "detail", "details", "reason"),
      ...members(isScalar, "code", "status", "error"),
      ...members(isFlag, "retryable", "fatal", "recoverable"),
      timestamp: isNumber,
    },
    classification: "display",
    otherwise: "submit",
  },
  notification: {
    members: {
      ...IDS,
      ...members(isText, "title", "message", "body", "text", "level", "severity", "variant"),
      ...members(isScalar, "priority"),
      ...members(isNumber, "duration", "timeout", "timestamp"),
      ...members(isFlag, "dismissible", "sticky"),
    },
    classification: "alert",
    otherwise: "submit",
  },
  navigation: {
    members: {
      ...IDS,
      ...members(isText, "url", "href", "path", "route", "to", "page", "view", "hash"),
      ...members(isText, "title", "label", "text"),
      ...members(isScalars, "params", "query"),
      ...members(isFlag, "replace", "external", "new_tab", "newTab"),
    },
    classification: "navigate",
    otherwise: "submit",
  },
};

const isRunVerb = isOneOf(
  "start",
  "started",
  "finish",
  "finished",
  "complete",
  "completed",
  "progress",
  "heartbeat",
  "run_started",
  "run_finished",
  "step_started",
  "step_finished",
  "RUN_STARTED",
  "RUN_FINISHED",
  "STEP_STARTED",
  "STEP_FINISHED",
);
const RUN_VERBS = members(isRunVerb, "action", "lifecycle", "event", "type");
const isInert: MemberCheck = (value) => typeof value === "string" && !hasVerb(value);

/**
 * The progress of a run: a `lifecycle` payload that names no component and shows at most a spinner.
 */
const RUN_MEMBERS: Readonly<Record<string, MemberCheck>> = {
  ...Object.fromEntries(Object.keys(IDS).map((name) => [name, isInert])),
  ...RUN_VERBS,
  ...members(isInert, "step", "step_name", "stepName", "protocolVersion"),
  ...members(isNumber, "timestamp", "progress"),
};

function isRunProgress(payload: JsonValue | undefined): boolean {
  if (!hasForm(payload, RUN_MEMBERS)) return false;
  const names = isJsonObject(payload) ? Object.keys(payload) : [];
  return names.length === 0 || names.some((name) => Object.hasOwn(RUN_VERBS, name));
}

/**
 * The class of an envelope: from its type, whether it names a target, and its payload. A class
 * below the strictest one of the type needs a payload from a closed list of forms. An agent writes
 * the labels, so a client may use any other payload in any way.
 */
export function payloadClass(
  type: UiEventType,
  hasTarget: boolean,
  payload: JsonValue | undefined,
): Classification {
  switch (type) {
    case "lifecycle":
      return !hasTarget && isRunProgress(payload) ? "display" : componentClass(payload);
    case "form_action":
      return "submit";
    // `ag_ui_classify` classifies states and custom events.
    case "state_update":
    case "custom":
      return "mutate";
    default: {
      const form = PAYLOAD_FORMS[type];
      if (form === undefined) return "submit";
      return typeof payload === "string" || isOfForm(payload, form)
        ? form.classification
        : form.otherwise;
    }
  }
}

function isOfForm(
  payload: JsonValue | undefined,
  { members: known, alternatives = [] }: PayloadForm,
): boolean {
  if (!hasForm(payload, known)) return false;
  const names = isJsonObject(payload) ? Object.keys(payload) : [];
  return alternatives.every((group) => names.filter((name) => group.includes(name)).length <= 1);
}

function hasForm(
  payload: JsonValue | undefined,
  known: Readonly<Record<string, MemberCheck>>,
): boolean {
  if (payload === undefined || payload === null) return true;
  if (!isJsonObject(payload)) return false;
  return Object.entries(payload as JsonObject).every(
    ([name, value]) => Object.hasOwn(known, name) && known[name]?.(value) === true,
  );
}
