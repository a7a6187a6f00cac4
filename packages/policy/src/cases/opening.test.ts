import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { compilePolicy } from "../compile/compile.js";
import { loadPolicy } from "../document/load.js";
import { sampleText } from "../testing/sample-text.js";
import { readCaseFile } from "./case-file.js";
import { runCases } from "./run-cases.js";

const PAGE = readFileSync(new URL("../../../../docs/policy/opening.md", import.meta.url), "utf8");
const [mine = "", cases = ""] = [...PAGE.matchAll(/```yaml\n([^`]+)```/g)].map(([, text]) => text);

test.for(["observe", "enforce"])(
  "the page about enforcing allows what it states over the starter policy, and nothing else: %s",
  (mode) => {
    const starter = sampleText("starter.yaml").replace(/^mode: observe$/m, `mode: ${mode}`);
    const reader = (file: string) => ({ file, text: starter });
    const policy = compilePolicy(loadPolicy(mine, { file: "mine.yaml", reader }));
    const { file, issues } = readCaseFile(cases, "mine.test.yaml");
    expect(issues).toEqual([]);
    expect(file?.cases).toHaveLength(15);
    const { results } = runCases(policy, file?.cases ?? []);
    expect(results.flatMap((result) => result.differences)).toEqual([]);
  },
);
