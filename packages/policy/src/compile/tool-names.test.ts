import * as fc from "fast-check";
import { expect, test } from "vitest";
import { classifyEvent } from "../classify/event.js";
import { loadPolicy } from "../document/load.js";
import { foldName, isPlainName } from "../patterns/look-alike.js";
import { isAtLeastAsStrict } from "../vocabulary/classification.js";
import { compilePolicy } from "./compile.js";
import { NO_COUNTERS } from "./facts.js";

const policyOf = (rules: string) =>
  compilePolicy(
    loadPolicy(`hushspec: "0.1.0"
name: tools
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
${rules}`),
  );

/** Whether a policy allows an agent to call one of its own tools. */
function mayCall(policy: ReturnType<typeof policyOf>, toolCallName: string): boolean {
  const event = classifyEvent(
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName },
    { refinements: policy.refinements, clientTools: new Set() },
  );
  return policy.evaluate({ event, transport: "sse", counters: NO_COUNTERS }).allow;
}

/** Some letters of other scripts and widths that look like plain ones. */
const TWINS: Readonly<Record<string, readonly string[]>> = {
  a: ["а", "ɑ", "ａ", "𝐚", "á"],
  c: ["с", "ϲ", "ｃ"],
  d: ["ԁ", "ⅾ", "𝖽"],
  e: ["е", "ｅ", "ℯ", "é"],
  i: ["і", "1", "l", "|", "ı"],
  l: ["1", "I", "ⅼ", "ӏ"],
  o: ["0", "о", "ο", "ｏ"],
  r: ["г", "ｒ"],
  s: ["ѕ", "ｓ"],
  t: ["ｔ", "т"],
  u: ["υ", "ս", "ｕ"],
  _: ["-", ".", "＿", " ", "‿"],
};
const UNSEEN = [
  "\u200b",
  "\u00ad",
  "\u2060",
  "\ufe0f",
  "\u0301",
  " ",
  "\u0000",
  "\u202e",
  "\u{e0061}",
];

/** A look-alike of a name: some letters replaced, in another case, with invisible ones between. */
const twinOf = (name: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      ...[...name].map((letter) =>
        fc.tuple(
          fc.constantFrom(letter, letter, letter.toUpperCase(), ...(TWINS[letter] ?? [])),
          fc.constantFrom("", "", "", "", ...UNSEEN),
        ),
      ),
    )
    .map((letters) => letters.flat().join(""))
    .filter((twin) => twin !== name);

const NAME = "delete_customer";

test.each([
  ["eval*", ["e_val", "e-val", "(eval)", "eval_code", "ev al"]],
  ["*_shell", ["bash shell", "run_shell_", "run_shell.", "run-shell()", "run|shell"]],
  ["delete_user", ["delete+user", "delete|user", "delete_user()", "(delete_user)", "delete user"]],
])("signs and spaces around the words of a name do not hide it: %s", (pattern, names) => {
  const policy = policyOf(`  ag_ui_tools: { call: { block: ["${pattern}"], default: allow } }\n`);
  for (const name of names) expect([name, mayCall(policy, name)]).toEqual([name, false]);
  for (const name of ["retrieval", "seashell", "add_user", "get weather", "search (web)"]) {
    expect([name, mayCall(policy, name)]).toEqual([name, true]);
  }
});

test("nothing that looks like a blocked name passes where everything else does", () => {
  for (const pattern of [NAME, "delete_*", "*_customer"]) {
    const policy = policyOf(`  ag_ui_tools: { call: { block: ["${pattern}"], default: allow } }\n`);
    fc.assert(
      fc.property(twinOf(NAME), (twin) => {
        expect(mayCall(policy, twin)).toBe(false);
      }),
      { numRuns: 500 },
    );
    expect(mayCall(policy, "search_web")).toBe(true);
    expect(mayCall(policy, "undelete")).toBe(true);
  }
});

test("the word boundaries of a blocked name are ignored", () => {
  const policy = policyOf(
    `  ag_ui_tools: { call: { block: [${NAME}, "drop_*"], default: allow } }\n`,
  );
  for (const name of ["deleteCustomer", "DELETE-CUSTOMER", "deletecustomer", "delete.customer"]) {
    expect(mayCall(policy, name)).toBe(false);
  }
  for (const name of ["dropTable", "Drop-Table", "DROP_TABLE"]) {
    expect(mayCall(policy, name)).toBe(false);
  }
  for (const name of ["dropped_items", "deleted_customers"]) {
    expect(mayCall(policy, name)).toBe(true);
  }
});

test("nothing that looks like a name with a schema passes without it", () => {
  const schema = `arguments: { ${NAME}: { type: object, required: [id] } }`;
  for (const call of ["", "call: { default: allow }, ", 'call: { allow: ["*"] }, ']) {
    const policy = policyOf(`  ag_ui_tools: { ${call}${schema} }\n`);
    fc.assert(
      fc.property(twinOf(NAME), (twin) => {
        expect(mayCall(policy, twin)).toBe(false);
      }),
      { numRuns: 300 },
    );
    expect(mayCall(policy, "search_web")).toBe(true);
  }
});

test("a wildcard of the allowed names covers plain names only", () => {
  const policy = policyOf('  ag_ui_tools: { call: { allow: ["search_*"] } }\n');
  expect(mayCall(policy, "search_web")).toBe(true);
  expect(mayCall(policy, "search_wеb")).toBe(false);
  expect(mayCall(policy, "search_web\u200b")).toBe(false);
});

test("a name that the policy spells out passes as it is, whatever it looks like, unless it is blocked itself", () => {
  const names = ["検索", "delete_custоmer", "Delete_Customer", "delete-customer"];
  const policy = policyOf(
    `  ag_ui_tools: { call: { allow: ${JSON.stringify(names)}, block: ["${NAME}"], default: allow } }\n`,
  );
  for (const name of names) expect(mayCall(policy, name)).toBe(true);
  expect(mayCall(policy, "検索する")).toBe(false);
  const both = policyOf('  ag_ui_tools: { call: { allow: ["検索"], block: ["検*"] } }\n');
  expect(mayCall(both, "検索")).toBe(false);
});

test("where no name is restricted, every name passes", () => {
  const policy = policyOf("  ag_ui_tools: { require_advertised: false }\n");
  fc.assert(
    fc.property(fc.string(), (name) => {
      expect(mayCall(policy, name)).toBe(true);
    }),
  );
});

test("what looks like a classified name is in no gentler class", () => {
  const { refinements } = policyOf(`  ag_ui_classify:
    tools:
      - { match: ${NAME}, classification: destroy }
      - { match: "*", classification: display }
    custom:
      - { match: app/${NAME}, classification: submit }
      - { match: "app/*", classification: display }
`);
  fc.assert(
    fc.property(twinOf(NAME), (twin) => {
      const start = { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: twin } as const;
      const tool = classifyEvent(start, { refinements, clientTools: new Set() });
      expect(isAtLeastAsStrict(tool.classification, "destroy")).toBe(true);
      const custom = { type: "CUSTOM", name: `app/${twin}`, value: 1 } as const;
      expect(classifyEvent(custom, { refinements }).classification).toBe("submit");
    }),
    { numRuns: 500 },
  );
});

test("what looks like a name in a gentler class keeps its own", () => {
  const { refinements } = policyOf(
    "  ag_ui_classify: { tools: [{ match: show_card, classification: display }] }\n",
  );
  const classOf = (toolCallName: string) =>
    classifyEvent(
      { type: "TOOL_CALL_START", toolCallId: "c", toolCallName },
      { refinements, clientTools: new Set([toolCallName]) },
    ).classification;
  expect(classOf("show_card")).toBe("display");
  for (const name of ["Show_Card", "shоw_card", "show_card\u200b"]) {
    expect(classOf(name)).toBe("mutate");
  }
});

test("the form of a name does not depend on its form of normalisation, and plain names are ASCII", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (name) => {
      for (const form of ["NFC", "NFD", "NFKC", "NFKD"] as const) {
        expect(foldName(name.normalize(form))).toBe(foldName(name));
      }
      expect(isPlainName(name)).toBe([...name].every((letter) => letter >= " " && letter <= "~"));
    }),
  );
});
