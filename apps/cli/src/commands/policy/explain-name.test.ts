import { readFileSync } from "node:fs";
import { explainName } from "@countersign/gateway";
import { RULES } from "@countersign/inspect";
import { loadPolicy } from "@countersign/policy";
import { expect, test } from "vitest";
import { runProgram } from "../../testing/run-program.js";
import { codeOfMessage, codeOfSentence } from "./error-pages.js";

const root = new URL("../../../../../", import.meta.url);

type Page = { cause: string; remedy: string; says: string[] };
const PAGES = JSON.parse(
  readFileSync(new URL("../../../assets/errors.json", import.meta.url), "utf8"),
) as Record<string, Page>;
const CODES = Object.keys(PAGES);

test("every rule of the doctor and every error code is explained, with what allows it or why nothing does", async () => {
  const names = [...Object.keys(RULES), ...CODES];
  expect(names.length).toBeGreaterThan(280);
  for (const name of names) {
    const { code, out } = await runProgram("policy", "explain", name);
    expect([name, code]).toEqual([name, 0]);
    expect([name, out]).toEqual([name, expect.stringMatching(/^allow {2}.{10}/mu)]);
  }
});

test("every cause and remedy of an error leads to its code", () => {
  const lost = Object.entries(PAGES).flatMap(([code, { cause, remedy }]) =>
    [cause, remedy].filter((sentence) => {
      const found = PAGES[codeOfSentence(sentence) ?? ""];
      return found?.cause !== sentence && found?.remedy !== sentence ? code : undefined;
    }),
  );
  expect(lost).toEqual([]);
});

test("every message of an error leads to its code, with any value in it", () => {
  const starter = loadPolicy(
    readFileSync(new URL("packages/policy/policies/starter.yaml", root), "utf8"),
  ).document;
  const messages = Object.values(PAGES).flatMap(({ says }) => says);
  expect(messages.length).toBeGreaterThan(140);
  const lost = messages.filter((message) => {
    const sample = message.replaceAll("{}", "main");
    const codes = CODES.filter((code) => PAGES[code]?.says.includes(message));
    const kind = explainName(sample, starter)?.kind;
    const found = codeOfSentence(sample) ?? kind?.split(" ").at(-1) ?? codeOfMessage(sample);
    return found !== "gateway/invalid" && !codes.includes(found ?? "");
  });
  expect(lost).toEqual([]);
});

test.each([
  ["tool:delete_user", "- match: delete_user\n"],
  ["custom:raw", '- match: "*"\n'],
  ["state:/ui/mood", "- match: /ui/mood/**\n"],
  ["interrupt:refund", "no line to add; the policy requires a token with exactly this scope"],
  [
    "tool:eval_js",
    'no line to add; the policy blocks it by name; take "eval_*" out of ag_ui_tools.call.block',
  ],
  ["state:/ui/theme", "the policy already allows it"],
  ["run/finish-ids", "ag_ui_order: { rules: { run/finish-ids: allow } }"],
  ["run/after-error", "no line to add; the official AG-UI client throws"],
  ["ag_ui_content", "ag_ui_content:\n           mode: observe"],
  ["limits.run_timeout", "add to countersign.yaml\n         limits:\n"],
  ["capability required for Submit events", "reason of rule ag_ui.capability"],
  ["urn:countersign:problem:ERR_RUN_TIME", "limits: { run_timeout: 259200"],
  ["finish-run-id-replaced", "deviation of langgraph"],
  ["the session belongs to another principal", "ERR_ACCESS_SESSION (HTTP 403)"],
  ["the request is larger than 1000 bytes", "ERR_LIMIT_EXCEEDED (HTTP 413)"],
  ["A client may not send this", "ERR_HISTORY_INVENTED"],
  ["The data of a frame is not JSON.", "sentence of the rule of the doctor json/syntax"],
])("explain %s prints what allows it in the starter policy", async (name, lines) => {
  const { code, out } = await runProgram("policy", "explain", name);
  expect(code).toBe(0);
  expect(out).toContain(lines);
});

test("explain tries the lines on the policy that is named", async () => {
  const preset = new URL(
    "../../../../../packages/policy/policies/policy-submit-scope.yaml",
    import.meta.url,
  );
  const { out } = await runProgram(
    "policy",
    "explain",
    "tool:pay",
    "--policy",
    preset.pathname,
    "--json",
  );
  expect(JSON.parse(out)).toMatchObject({ name: "tool:pay", openings: expect.any(Array) });
});
