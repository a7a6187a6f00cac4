import { parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import {
  BUILTIN_POLICIES,
  compileArgumentSchema,
  compilePolicy,
  compileResponseSchema,
  eventTypeToJson,
  formatTarget,
  hashDocument,
  parseTarget,
  readEventType,
  readPolicy,
} from "@countersign/policy";
import { readCaseFile, readRecording, readSubject } from "@countersign/policy/cases";
import { compileCondition } from "../../packages/policy/src/conditions/expression.js";
import { toCelInput } from "../../packages/policy/src/conditions/json-view.js";
import { TextScanner } from "../../packages/policy/src/content/text-scanner.js";
import { createContentReader } from "../../packages/policy/src/content/reader.js";
import { readRequest } from "../../packages/policy/src/content/request.js";
import { settingsOf } from "../../packages/policy/src/content/testing/settings-of.js";
import { compilePattern } from "../../packages/policy/src/patterns/regular-expression.js";
import { attempt, hold, holdEqual, holdRefusal, textOf } from "../engine/target.js";
import type { FuzzTarget } from "../engine/target.js";

const [STARTER = ""] = BUILTIN_POLICIES.values();
const SETTINGS = settingsOf({ words: ["secret"], parts: new Set(["text", "reasoning"]) });
const COMPILED = compilePolicy(loadOrThrow(STARTER));
const MARKUP_WORDS = [
  "![x](",
  "[x]: ",
  "<img src=",
  "<a href=",
  "</",
  "<svg",
  "<!--",
  "-->",
  "<![CDATA[",
  "```",
  "``",
  "~~~",
  "    ",
  "\n\n",
  "> ",
  "- ",
  "1. ",
  "javascript:",
  "http://a@b/",
  "&colon;",
  "&#58;",
  "\\",
  "\u200B",
  "\u202E",
  "\u{E0041}",
  "style=",
  "url(",
];

function loadOrThrow(text: string) {
  const { policy, issues } = readPolicy(text);
  if (policy === undefined) throw new Error(`no policy: ${JSON.stringify(issues)}`);
  return policy;
}

/** Anything that a scanner finds in a text that comes in pieces. */
function findsIn(pieces: readonly string[]): boolean {
  const scanner = new TextScanner(SETTINGS);
  return pieces.map((piece) => scanner.push(piece)).some((found) => found !== undefined);
}

/** Cuts a text at places that the text chooses. */
function cutText(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0, step = 1; start < text.length; start += step) {
    step = 1 + ((text.charCodeAt(start) + start) % 5);
    pieces.push(text.slice(start, start + step));
  }
  return pieces;
}

export const POLICY_TARGETS: readonly FuzzTarget[] = [
  {
    name: "content",
    property:
      "the content scanner finds in the pieces of a text whatever it finds in the whole text",
    covers: [
      "packages/policy/src/content/text-scanner.ts#TextScanner",
      "packages/policy/src/content/reader.ts#createContentReader",
      "packages/policy/src/content/request.ts#readRequest",
    ],
    dictionary: MARKUP_WORDS,
    seeds: [
      "Plain text with *emphasis* and `code`.",
      "![a](https://x.example/?q=1)",
      "<img src=//x.example>",
      "```\n<img src=x>\n```\n",
      "[a](javascript:alert(1)) http://a@b/",
      "| a | b |\n|---|---|\n| 1 | `<b>` |\n",
      "a\u200Bb\u202Ec",
    ],
    run(input) {
      const text = textOf(input);
      const whole = findsIn([text]);
      if (whole) {
        hold(findsIn(cutText(text)), "a cut hides nothing");
        hold(findsIn([...text]), "characters one by one hide nothing");
        // A half surrogate pair at a time, as a careless agent cuts.
        hold(findsIn(text.split("")), "code units one by one hide nothing");
      }
      const reader = createContentReader(SETTINGS);
      const event = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: text };
      holdEqual(reader.read(event) !== null, whole, "the reader of events agrees with the scanner");
      const message = { id: "u", role: "user", content: text };
      attempt(() => readRequest({ messages: [message] } as JsonObject, SETTINGS));
    },
  },
  {
    name: "policy-yaml",
    property: "a policy loads or is refused with places; what loads compiles and has one hash",
    covers: [
      "packages/policy/src/document/load.ts#readPolicy",
      "packages/policy/src/document/load.ts#loadPolicy",
      "packages/policy/src/document/read-yaml.ts#readYaml",
    ],
    dictionary: [
      "rules:\n",
      "  ag_ui:\n",
      "    mode: enforce\n",
      "    enabled: true\n",
      "  velocity:\n",
      "&a ",
      "*a",
      "!!js ",
      "<<: ",
      "? ",
      "|-\n",
      "when: 'true'",
    ],
    maxBytes: 4096,
    seeds: [
      ...BUILTIN_POLICIES.values(),
      'hushspec: "0.1.0"\nrules:\n  ag_ui:\n    mode: enforce\n',
      "a: &a [*a]\n",
      "{}",
    ],
    run(input) {
      const text = textOf(input);
      const { policy, issues } = readPolicy(text);
      if (policy === undefined) {
        hold(issues.length > 0, "a refusal has a reason");
        return;
      }
      hold(/^[0-9a-f]{64}$/u.test(policy.hash), "a policy has a hash");
      holdEqual(hashDocument(policy.document), policy.hash, "the hash is that of the document");
      attempt(() => compilePolicy(policy));
    },
  },
  {
    name: "condition",
    property:
      "a CEL condition is refused with a sentence or answers true, false or nothing within its steps",
    covers: [],
    dictionary: [
      "event.",
      "message.",
      "session.",
      ".matches('",
      ".exists(x, ",
      ".all(x, ",
      " in ",
      " && ",
      " ? ",
      "size(",
      "[0]",
      "dyn(",
    ],
    seeds: [
      "event.type == 'TEXT_MESSAGE_CONTENT' && size(event.delta) < 10",
      "event.delta.matches('^a+$')",
      "[1,2,3].exists(x, x > 2)",
      "'a' in event",
    ],
    run(input) {
      let condition;
      try {
        condition = compileCondition(textOf(input));
      } catch (error) {
        // The author of a policy reads a sentence; a loader turns it into an issue with its place.
        holdRefusal(error);
        return;
      }
      const event = { type: "TEXT_MESSAGE_CONTENT", delta: "a".repeat(64), list: [1] };
      const answer = condition.evaluate((name, spend) =>
        name === "event" ? toCelInput(event, spend) : undefined,
      );
      hold(answer === undefined || typeof answer === "boolean", "true, false or nothing");
    },
  },
  {
    name: "pattern",
    property: "a regular expression of a policy is refused or runs in linear time",
    covers: [],
    dictionary: ["(", ")*", "{2,}", "[^a-z]", "\\p{L}", "(?:", "|", "^", "$", "\\b", "(?i)"],
    seeds: ["^a+$", "(a|b)*c", "[\\w.-]+@x", "(?:a{1,10}){1,10}"],
    maxBytes: 512,
    run(input) {
      let pattern;
      try {
        pattern = compilePattern(textOf(input));
      } catch (error) {
        holdRefusal(error);
        return;
      }
      hold(typeof pattern.test("ab".repeat(2000)) === "boolean", "true or false");
    },
  },
  {
    name: "argument-schema",
    property:
      "a JSON Schema of a tool or an interrupt compiles or is refused, and judges without an error",
    covers: [],
    dictionary: [
      '"$ref":"#"',
      '"pattern":"',
      '"format":"',
      '"allOf":[',
      '"$dynamicRef"',
      '"enum":[',
    ],
    seeds: [
      '{"type":"object","properties":{"a":{"type":"string","pattern":"^a"}},"required":["a"]}',
      '{"anyOf":[{"const":1},{"$ref":"#"}]}',
      '{"type":"array","items":{"format":"date-time"},"uniqueItems":true}',
    ],
    run(input) {
      const value = attempt(() => parseJson(input, { maxDepth: 32 }));
      if (!value.ok || typeof value.value !== "object" || value.value === null) return;
      if (Array.isArray(value.value)) return;
      const schema = value.value;
      for (const compile of [compileArgumentSchema, compileResponseSchema]) {
        let check;
        try {
          check = compile(schema);
        } catch (error) {
          // The caller turns any refusal into one of its own.
          holdRefusal(error);
          continue;
        }
        for (const sample of [null, { a: "b" }, [1, "2"], "x"] as JsonValue[]) check(sample);
      }
    },
  },
  {
    name: "policy-cases",
    property: "case files, recorded events and names in a policy are read or refused, never fatal",
    covers: [
      "packages/policy/src/cases/case-file.ts#readCaseFile",
      "packages/policy/src/cases/recording.ts#readRecording",
      "packages/policy/src/cases/subject.ts#readSubject",
      "packages/policy/src/vocabulary/target.ts#parseTarget",
      "packages/policy/src/vocabulary/event-type.ts#readEventType",
    ],
    dictionary: [
      '"event_type":"render"',
      '"kind":"event"',
      "custom:",
      'custom("',
      "cases:\n",
      "- name: ",
    ],
    seeds: [
      '{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a"}',
      '{"event_type":"render","payload":{},"classification":"display"}',
      '{"kind":"event","event":{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"x"}}',
      "cases:\n- name: a\n  event: {type: RUN_STARTED}\n  expect: allow\n",
      "modal:confirm",
      'custom("x")',
    ],
    run(input) {
      const text = textOf(input);
      readCaseFile(text, "cases.yaml");
      const target = parseTarget(text);
      if (target !== undefined) holdEqual(formatTarget(target), text, "a target has one spelling");
      const lines = text
        .split("\n")
        .slice(0, 20)
        .map((line) => attempt(() => parseJson(line)));
      const values = lines.flatMap((line) => (line.ok ? [line.value] : []));
      readRecording(values, COMPILED);
      for (const value of values) {
        readSubject(value, { refinements: COMPILED.refinements } as never);
        const type = readEventType(value);
        if (type !== undefined) holdEqual(readEventType(eventTypeToJson(type)), type, "survives");
      }
    },
  },
];
