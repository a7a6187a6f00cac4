import { parseUrl } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import tlds from "tlds" with { type: "json" };
import { expect, test } from "vitest";
import { findErrorLink } from "./error-links.js";
import { RENDERERS } from "./testing/renderers.js";

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
  "http:/evil.example/login",
  "<http:/evil.example/login>",
  "<https:evil.example/login>",
  "<slack:open>",
  "[Sign in]: slack:open",
  "[Sign in]\n\n[Sign in]: http:/evil.example/login",
  "help@evil.com",
  "help\\@evil.com",
  "first.last+x@mail.evil.example",
  "evil.com/login",
  "EVIL.Com?x=1",
  "evil.co.uk:8080/login",
  "evil\\.io/x",
  "\u044f.\u0440\u0444/x",
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

const words = fc.stringMatching(/^[A-Za-z0-9 ,()'-]{0,20}[.]?$/u);

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

const PAGE = "https://page.example/chat/";
const PIECES =
  "http https : // / . . @ @ evil com io ru www mailto tel slack x 1 - _ + ? # [a] ]( ) < > ( * ** ` \\ & &colon; &#46; &amp; ! ' % ^ { | } ~ = $".split(
    " ",
  );
const piece = fc.oneof(
  fc.constantFrom(...PIECES),
  fc.constantFrom(" ", "\n", "\n\n", "[a]: ", "evil.com", "a@b.io"),
);

/** The addresses outside of the page that a renderer makes links to; a bare host is linked by markdown-it alone. */
function linksOutside(renderer: string, html: string): string[] {
  return Array.from(html.matchAll(/<a\b[^>]*\bhref="([^"]*)"/gu), ([, href = ""]) => href).filter(
    (href) => {
      // A scheme with nothing behind it leads nowhere.
      if (/^[a-z][a-z0-9+.-]*:$/iu.test(href)) return false;
      // markdown-it 15 links a mail address with any ending (`'@app.route`); without a top-level domain no mail arrives.
      const labels = /^mailto:.*@([^/@]*)$/u.exec(href)?.[1]?.split(".");
      if (labels?.some((label) => tlds.includes(label.toLowerCase())) === false) return false;
      if (renderer.startsWith("markdown-it") && /^http:\/\/[^/?#]+$/u.test(href)) return false;
      return parseUrl(href.replaceAll("&amp;", "&"), PAGE)?.origin !== new URL(PAGE).origin;
    },
  );
}

test("what no link was found in, no renderer makes a link of", () => {
  let linked = 0;
  fc.assert(
    fc.property(fc.array(piece, { minLength: 2, maxLength: 10 }), (pieces) => {
      const message = pieces.join("");
      const isFound = findErrorLink({ type: "RUN_ERROR", message }) !== null;
      if (isFound) linked++;
      const missed = [...RENDERERS].flatMap(([name, render]) =>
        isFound ? [] : linksOutside(name, render(message)),
      );
      expect([message, missed]).toEqual([message, []]);
    }),
    { numRuns: 3000 },
  );
  expect(linked).toBeGreaterThan(100);
}, 300_000);

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
      "at f (/app/node_modules/socket.io/dist/index.js:3:4)",
      "getaddrinfo ENOTFOUND api.openai.com",
      "connect to api.openai.com:443 failed",
      "user.id is missing in main.py:12",
      "the decorator '@app.route' in node_modules/@scope/x.js",
      "left-pad@1.3.0 was not found",
      "vector<std::string> is no type",
      "[ERROR]: TypeError: x is not a function",
      "3.5/4 tokens, and/or more, Node.js/20",
      "C:\\temp\\x.py",
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
