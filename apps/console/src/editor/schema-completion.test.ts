import { expect, test } from "vitest";
import { highlightYaml } from "./code-mirror.js";
import { placeAt, proposalsAt } from "./schema-completion.js";
import type { Schema } from "./schema-completion.js";

const SCHEMA: Schema = {
  properties: {
    name: { type: "string" },
    rules: {
      type: "object",
      properties: {
        ag_ui: { $ref: "#/$defs/block" },
        velocity: {
          type: "array",
          items: { properties: { id: {}, scope: { enum: ["session", "agent"] } } },
        },
      },
    },
  },
  $defs: {
    block: {
      properties: {
        mode: { enum: ["observe", "enforce"], description: "Whether it decides." },
        enabled: { type: "boolean" },
        classes: { items: { anyOf: [{ enum: ["display"] }, { enum: ["submit"] }] } },
        again: { $ref: "#/$defs/block" },
      },
    },
  },
};

/** The labels at the place of the bar. */
function at(text: string): string[] {
  const [before = ""] = text.split("|");
  const lines = before.split("\n");
  const place = placeAt(
    text.replace("|", "").split("\n"),
    lines.length - 1,
    lines.at(-1)?.length ?? 0,
  );
  return proposalsAt(SCHEMA, place).map(({ label }) => label);
}

test("keys and values of the place in the document are proposed, and no others", () => {
  expect(at("|")).toEqual(["name", "rules"]);
  expect(at("name: x\nrules:\n  |")).toEqual(["ag_ui", "velocity"]);
  expect(at("rules:\n  ag_ui:\n    enabled: true\n    |")).toEqual([
    "mode",
    "enabled",
    "classes",
    "again",
  ]);
  expect(at("rules:\n  ag_ui:\n    mode: |")).toEqual(["observe", "enforce"]);
  expect(at("rules:\n  ag_ui:\n    enabled: t|")).toEqual(["true", "false"]);
  expect(at("rules:\n  ag_ui:\n    classes:\n      - |")).toEqual(["display", "submit"]);
  expect(at("rules:\n  ag_ui:\n    classes:\n    - |")).toEqual(["display", "submit"]);
  expect(at("rules:\n  velocity:\n    - id: a\n      |")).toEqual(["id", "scope"]);
  expect(at("rules:\n  velocity:\n    - id: a\n      scope: |")).toEqual(["session", "agent"]);
  expect(at("rules:\n  ag_ui:\n    mode: observe\n  # a comment\n  |")).toEqual([
    "ag_ui",
    "velocity",
  ]);
  expect(at("rules:\n  ag_ui:\n    again:\n      again:\n        m|")).toContain("mode");
  expect(at("nothing:\n  like: it\n  |")).toEqual([]);
});

test("highlighted lines are the text, line by line, whatever it is", () => {
  for (const text of [
    "",
    "a: 1 # c\nb:\n  - 'x'\n",
    "{",
    ": : :\n\t\u0000",
    "k: |\n  long\n  text\n",
  ]) {
    const lines = highlightYaml(text).map((line) => line.map((token) => token.text).join(""));
    expect(lines.join("\n")).toBe(text);
  }
  const [line = []] = highlightYaml("mode: observe # why");
  expect(line.map(({ kind }) => kind)).toContain("tok-comment");
  expect(line[0]).toEqual({ text: "mode", kind: expect.stringContaining("tok-propertyName") });
});
