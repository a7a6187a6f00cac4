import type { JsonObject, JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findErrorLink } from "./error-links.js";

const LINKS = [
  "https://evil.example",
  "HTTP:evil.example",
  "//evil.example/x",
  "www.evil.example",
  "[sign in](evil)",
  "[a]: https:evil.example",
  "mailto:a@evil.example",
  "https&colon;evil",
  "&#104;ttps",
  "evil&sol;&sol;",
  "http&#58//x",
  "tel:123",
];

/** Every form of an error, with a text in each place that a page may show. */
const FORMS: Record<string, (text: string) => JsonObject> = {
  "a run's message": (message) => ({ type: "RUN_ERROR", message }),
  "a run's code": (code) => ({ type: "RUN_ERROR", message: "failed", code }),
  "a run's model": (model) => ({ type: "RUN_ERROR", message: "failed", usage: [{ model }] }),
  "a subagent's message": (message) => ({ type: "SUBAGENT_ERROR", subagentRunId: "s", message }),
  "a subagent's code": (code) => ({
    type: "SUBAGENT_ERROR",
    subagentRunId: "s",
    message: "failed",
    code,
  }),
  "an error envelope": (text) => enveloped("error", { details: [{ hint: text }] }),
  "an error envelope's text": (text) => enveloped("error", text),
  "a custom error envelope": (text) => enveloped({ custom: "tool_error" }, { message: text }),
  "an error within another envelope": (text) =>
    enveloped("lifecycle", { step: { last_error: { message: text } } }),
};

function enveloped(type: JsonValue, payload: JsonValue): JsonObject {
  return { event_id: "e1", event_type: type, agent_id: "a", payload } as JsonObject;
}

const words = fc.stringMatching(/^[A-Za-z0-9 ,.()'-]{0,20}$/u);

test("a link is found in every form of an error, wherever it stands in the text", () => {
  const form = fc.constantFrom(...Object.keys(FORMS));
  fc.assert(
    fc.property(form, fc.constantFrom(...LINKS), words, words, (name, link, before, after) => {
      const event = FORMS[name]?.(`${before} ${link} ${after}`) ?? {};
      expect([name, link, findErrorLink(event)?.kind]).toEqual([name, link, "links_in_errors"]);
    }),
    { numRuns: 400 },
  );
});

test("errors without a link pass, and so do links elsewhere", () => {
  const plain = fc.oneof(
    words,
    fc.constantFrom(
      "The model of AT&T is away (503).",
      "file: not found",
      "invalid data: 3",
      "a &amp; b in /var/log/x.txt",
      "hotel: full",
      "at f (index.js:3:4)",
    ),
  );
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(FORMS)), plain, (name, text) => {
      expect(findErrorLink(FORMS[name]?.(text) ?? {})).toBeNull();
    }),
  );
  for (const link of LINKS) {
    expect(findErrorLink({ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: link })).toBeNull();
    expect(findErrorLink(enveloped("text_stream", { text: link }))).toBeNull();
  }
});
