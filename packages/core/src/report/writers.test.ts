import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "../json/parse.js";
import { escapeMarkup, visible, writeHtmlPage, writeJunitXml, writeSarifLog } from "./writers.js";

test("invisible and active characters are written out", () => {
  expect(visible("a\u202Eb\u001B[2J\u{E0041}")).toBe("a\\u{202E}b\\u{1B}[2J\\u{E0041}");
  expect(escapeMarkup(`<a href="x" title='y'>&`)).toBe(
    "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;",
  );
});

test("a JUnit file has one suite per group and one element per result", () => {
  const xml = writeJunitXml({ name: "a & b", time: 0.5 }, [
    {
      attributes: { name: "s", tests: 3 },
      cases: [
        { attributes: { classname: "c", name: "passed" } },
        {
          attributes: { classname: "c", name: "skipped" },
          result: { element: "skipped", attributes: { message: "no" } },
        },
        {
          attributes: { classname: "c", name: "failed" },
          result: { element: "failure", attributes: { type: "error" }, text: "<\u0001>" },
        },
      ],
    },
  ]);
  expect(xml).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="a &amp; b" time="0.5">
  <testsuite name="s" tests="3">
    <testcase classname="c" name="passed"/>
    <testcase classname="c" name="skipped"><skipped message="no"/></testcase>
    <testcase classname="c" name="failed"><failure type="error">&lt;\\u{1}&gt;</failure></testcase>
  </testsuite>
</testsuites>
`);
});

test("no text puts a character into a JUnit file that XML 1.0 cannot contain", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 0, max: 0xffff })), (name, units) => {
      const odd = String.fromCharCode(...units);
      const result = { element: "failure", text: odd } as const;
      const xml = writeJunitXml({ name }, [
        { attributes: {}, cases: [{ attributes: { name: odd }, result }] },
      ]);
      expect(xml).toMatch(/^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
      expect(xml.match(/</g)).toHaveLength(9);
    }),
  );
});

test("a SARIF file holds its run", () => {
  expect(parseJson(writeSarifLog({ results: [] }))).toEqual({
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ results: [] }],
  });
});

test("a page may run scripts only if it has some", () => {
  const page = { title: "<t>", style: "", body: "<p>" };
  expect(writeHtmlPage(page)).toContain("<title>&lt;t&gt;</title>");
  expect(writeHtmlPage(page)).not.toContain("script");
  expect(writeHtmlPage(page)).toContain(
    "style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
  );
  const scripted = writeHtmlPage({ ...page, scripts: ["1"] });
  expect(scripted).toContain("script-src 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='");
  expect(scripted).not.toContain("unsafe-inline");
});
