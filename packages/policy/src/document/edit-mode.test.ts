import { expect, test } from "vitest";
import { compilePolicy } from "../compile/compile.js";
import { loadPolicy } from "./load.js";
import { linesOfRules, setPolicyMode } from "./edit-mode.js";

const TEXT = `# our policy
hushspec: "0.1.0"
name: chat   # keep this
rules:
  # what people see
  ag_ui:
    enabled: true

    allow_display_without_capability: true
  ag_ui_content: { enabled: true } # one line
  ag_ui_inbound:
    mode: observe # since Monday
    default: block
    allow_classifications: [display]
  ag_ui_conditions:
    rules:
      - id: no-tuesdays
        when: "true"
        effect: block
`;

test.each([
  ["ag_ui", "  ag_ui:\n    mode: observe\n    enabled: true\n\n    allow"],
  ["ag_ui_content", "  ag_ui_content: { mode: observe, enabled: true } # one line\n"],
  ["policy", '# our policy\nmode: observe\nhushspec: "0.1.0"\n'],
])("the mode of %s is added as one piece, and everything else stays", (block, piece) => {
  const changed = setPolicyMode(TEXT, block, "observe") ?? "";
  expect(changed).toContain(piece);
  expect(changed.replace(/mode: observe(?:, |\n +|\n)(?!#)/u, "")).toBe(TEXT);
});

test("a mode that is written is replaced, with its comment", () => {
  const changed = setPolicyMode(TEXT, "ag_ui_inbound", "enforce") ?? "";
  expect(changed).toBe(TEXT.replace("mode: observe #", "mode: enforce #"));
});

test("the changed text has the mode when it is loaded", () => {
  const simple = TEXT.slice(0, TEXT.indexOf("  ag_ui_conditions"));
  const changed = setPolicyMode(simple, "policy", "observe") ?? "";
  expect(compilePolicy(loadPolicy(simple)).mode).toBe("enforce");
  expect(compilePolicy(loadPolicy(changed)).mode).toBe("observe");
});

test.each(["ag_ui_tools", "rules", "name", "__proto__", "hushspec"])(
  "a block that is not in the file cannot be edited: %s",
  (block) => {
    expect(setPolicyMode(TEXT, block, "observe")).toBeUndefined();
  },
);

test("a text that is not YAML is not edited", () => {
  expect(setPolicyMode("a: [", "policy", "observe")).toBeUndefined();
  expect(setPolicyMode("- a\n", "policy", "observe")).toBeUndefined();
  expect(setPolicyMode("mode:\nname: x\n", "policy", "observe")).toBeUndefined();
});

test("a rule has the line of its entry, of its setting or of its block", () => {
  const rules = [
    "ag_ui.capability",
    "ag_ui.enabled",
    "ag_ui_content",
    "ag_ui_conditions.no-tuesdays",
    "gateway/role",
  ];
  expect(linesOfRules(TEXT, rules)).toEqual({
    "ag_ui.capability": 6,
    "ag_ui.enabled": 7,
    ag_ui_content: 10,
    "ag_ui_conditions.no-tuesdays": 17,
  });
  expect(linesOfRules("a: [", rules)).toEqual({});
});
