import { isJsonObject, ownMember } from "@countersign/core";
import { dispatchLists } from "../model/dispatch.js";
import { PREDICATE } from "./condition-shape.js";
import type { Shape } from "./shape.js";
import {
  ANYTHING,
  closedObject,
  COUNT,
  listOf,
  OPEN_OBJECT,
  optional,
  required,
  TEXT,
  textMatching,
} from "./shape.js";

const TRIGGER = closedObject({
  event: optional(textMatching("an event name", /^[a-z][a-zA-Z0-9_/]*$/)),
  count: optional(COUNT),
  match: optional(PREDICATE),
  after: optional(TEXT),
});

const EXTRACTOR = closedObject({
  name: required(TEXT),
  source: required(TEXT),
  type: required(TEXT),
  selector: required(TEXT),
});

const SEND = closedObject({ method: required(TEXT), params: optional(ANYTHING) });
const LOG = closedObject({ message: required(TEXT), level: optional(TEXT) });

/** One action; keys of bindings may hold anything, how many there are is V-041. */
const ACTION: Shape = (value, path, report) => {
  if (!isJsonObject(value)) report("must be a mapping", path);
  const send = ownMember(value, "send");
  const log = ownMember(value, "log");
  if (send !== undefined) SEND(send, [...path, "send"], report);
  if (log !== undefined) LOG(log, [...path, "log"], report);
};

/**
 * State is the protocol's own and passes through as it is, malformed traffic included; only the `when`
 * of dispatch lists belongs to the format.
 */
const STATE: Shape = (value, path, report) => {
  OPEN_OBJECT(value, path, report);
  for (const list of dispatchLists(value)) {
    for (const [index, entry] of list.entries.entries()) {
      const when = ownMember(entry, "when");
      if (when !== undefined) PREDICATE(when, [...path, ...list.path, index, "when"], report);
    }
  }
};

const PHASE = closedObject(
  {
    name: optional(TEXT),
    description: optional(TEXT),
    mode: optional(TEXT),
    state: optional(STATE),
    extractors: optional(listOf(EXTRACTOR)),
    on_enter: optional(listOf(ACTION)),
    trigger: optional(TRIGGER),
  },
  { extensions: true },
);

const ACTOR = closedObject(
  { name: optional(TEXT), mode: optional(TEXT), phases: optional(listOf(PHASE)) },
  { extensions: true },
);

/** The execution in any of its forms; which fields go together is V-030. */
export const EXECUTION = closedObject(
  {
    mode: optional(TEXT),
    state: optional(STATE),
    phases: optional(listOf(PHASE)),
    actors: optional(listOf(ACTOR)),
  },
  { extensions: true },
);
