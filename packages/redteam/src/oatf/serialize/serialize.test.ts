import * as fc from "fast-check";
import { expect, test } from "vitest";
import { load } from "../load.js";
import type { OatfDocument } from "../model/document.js";
import { normalize } from "../normalize/normalize.js";
import { parse } from "../parse/parse.js";
import { arbitraryDocument } from "../testing/arbitrary-document.js";
import { VALID } from "../testing/sample.js";
import { serialize } from "./serialize.js";

function documentOf(text: string): OatfDocument {
  const result = parse(text);
  if (!result.ok) throw new SyntaxError(JSON.stringify(result.errors));
  return result.document;
}

test("normalising twice is normalising once", () => {
  fc.assert(
    fc.property(arbitraryDocument, (document) => {
      const once = normalize(document);
      expect(normalize(once as OatfDocument)).toEqual(once);
    }),
    { numRuns: 100 },
  );
});

test("what is written reads back as the same document, and is written the same again", () => {
  fc.assert(
    fc.property(arbitraryDocument, (document) => {
      const text = serialize(document);
      const again = documentOf(text);
      expect(normalize(again)).toEqual(normalize(document));
      expect(serialize(again)).toBe(text);
    }),
    { numRuns: 100 },
  );
});

test("what is written of a valid document is valid", () => {
  const text = serialize(documentOf(VALID));
  expect(load(text)).toMatchObject({ ok: true, warnings: [] });
});

test("fields come in the order of the specification, extensions last, content as written", () => {
  const text = serialize(
    documentOf(`attack:
  x-team: red
  indicators: [{pattern: {contains: a}, target: t, x-note: 1, id: I-001-01}]
  execution: {state: {z: 1, a: {y: 1, b: 2}}, mode: ag_ui_client}
  name: N
  id: I-001
$schema: https://example.test/schema
oatf: "0.1"
`),
  );
  const keys = [...text.matchAll(/^ *(?:- )?("?[\w$-]+"?):/gm)].map(([, key]) => key);
  expect(keys).toEqual([
    "oatf",
    "$schema",
    "attack",
    "id",
    "name",
    "version",
    "status",
    "execution",
    "actors",
    "name",
    "mode",
    "phases",
    "name",
    "state",
    "z",
    "a",
    '"y"',
    "b",
    "indicators",
    "id",
    "protocol",
    "target",
    "pattern",
    "target",
    "condition",
    "contains",
    "x-note",
    "correlation",
    "logic",
    "x-team",
  ]);
});

test("texts that older readers would take for something else are quoted", () => {
  const text = serialize(
    documentOf(VALID.replace("name: Forged approval", "created: 2026-02-15\n  author: 'yes'")),
  );
  expect(text).toContain('created: "2026-02-15"');
  expect(text).toContain('author: "yes"');
});

test("templates, escapes and letters of all scripts stay as they are", () => {
  const source = VALID.replace('content: "hello"', "content: 'a \\{{b}} {{call_id}} é ☺ 日本'");
  const text = serialize(documentOf(source));
  expect(text).toContain("a \\{{b}} {{call_id}} é ☺ 日本");
});
