import { isJsonObject } from "@countersign/core";
import { PATTERN } from "./condition-shape.js";
import { EXECUTION } from "./execution-shape.js";
import type { Shape } from "./shape.js";
import {
  closedObject,
  INTEGER,
  listOf,
  mapOf,
  NUMBER,
  optional,
  required,
  TEXT,
  textMatching,
} from "./shape.js";

const TEXTS = listOf(TEXT);
const NAME = textMatching("a string that is not empty", /[^]/);
const SOME_TEXTS = listOf(TEXT, { nonEmpty: true });

/** A null where a V-rule speaks about absence is left to that rule. */
function absentIsFine(shape: Shape): Shape {
  return (value, path, report) => {
    if (value !== null) shape(value, path, report);
  };
}

const SEVERITY_OBJECT = closedObject({ level: required(TEXT), confidence: optional(INTEGER) });
const SEVERITY: Shape = (value, path, report) => {
  if (isJsonObject(value)) SEVERITY_OBJECT(value, path, report);
  else TEXT(value, path, report);
};

const CLASSIFICATION = closedObject({
  category: optional(TEXT),
  mappings: optional(
    listOf(
      closedObject({
        framework: required(NAME),
        id: required(TEXT),
        name: optional(TEXT),
        url: optional(TEXT),
        relationship: optional(TEXT),
      }),
    ),
  ),
  tags: optional(TEXTS),
});

const REFERENCE = closedObject({
  url: required(TEXT),
  title: optional(TEXT),
  description: optional(TEXT),
});

const EXAMPLE_LISTS = closedObject({
  positive: optional(SOME_TEXTS),
  negative: optional(SOME_TEXTS),
});
const EXAMPLES: Shape = (value, path, report) => {
  EXAMPLE_LISTS(value, path, report);
  if (
    isJsonObject(value) &&
    !Object.hasOwn(value, "positive") &&
    !Object.hasOwn(value, "negative")
  ) {
    report("needs positive or negative examples", path);
  }
};

const INDICATOR = closedObject(
  {
    id: optional(TEXT),
    protocol: optional(TEXT),
    surface: optional(TEXT),
    target: required(TEXT),
    actor: optional(TEXT),
    direction: optional(TEXT),
    method: optional(TEXT),
    description: optional(TEXT),
    pattern: optional(PATTERN),
    expression: optional(closedObject({ cel: required(TEXT), variables: optional(mapOf(TEXT)) })),
    semantic: optional(
      closedObject({
        target: optional(TEXT),
        intent: required(TEXT),
        intent_class: optional(TEXT),
        threshold: optional(NUMBER),
        examples: optional(EXAMPLES),
      }),
    ),
    confidence: optional(INTEGER),
    severity: optional(TEXT),
    false_positives: optional(TEXTS),
    tier: optional(TEXT),
  },
  { extensions: true },
);

const ATTACK = closedObject(
  {
    id: optional(TEXT),
    name: optional(TEXT),
    version: optional(NUMBER),
    status: optional(TEXT),
    created: optional(TEXT),
    modified: optional(TEXT),
    author: optional(TEXT),
    description: optional(TEXT),
    grace_period: optional(TEXT),
    severity: optional(SEVERITY),
    impact: optional(listOf(TEXT, { nonEmpty: true })),
    classification: optional(CLASSIFICATION),
    references: optional(listOf(REFERENCE)),
    execution: optional(absentIsFine(EXECUTION)),
    indicators: optional(listOf(INDICATOR)),
    correlation: optional(closedObject({ logic: optional(TEXT) })),
  },
  { extensions: true },
);

/** A document: what is absent or not on a closed list is left to `validate`, every other wrong type is reported. */
export const DOCUMENT = closedObject({
  oatf: optional(absentIsFine(TEXT)),
  $schema: optional(TEXT),
  attack: optional((value, path, report) => {
    if (isJsonObject(value)) ATTACK(value, path, report);
  }),
});
