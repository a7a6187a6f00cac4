// The GitHub Action, without GitHub: its script runs the built command and writes files where GitHub would read them.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runAction } from "./action.mjs";
import { root } from "./sources.mjs";

/** The YAML parser of a package that has one. */
const { parse } = createRequire(join(root, "packages/redteam/package.json"))("yaml");
const COMMAND = `${process.execPath} ${join(root, "apps/cli/dist/main.js")}`;
const STARTER = join(root, "packages/policy/policies/starter.yaml");
const LOOSER = readFileSync(STARTER, "utf8").replace("images: block", "images: allow");
const PATIENCE = 120_000;

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "action-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the script as action.yml does, with its own files for summary and outputs. */
function act(inputs, run = spawnSync) {
  const files = {
    GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
    GITHUB_OUTPUT: join(folder, "out"),
  };
  const variables = Object.entries({ COMMAND, ...inputs }).map(([name, value]) => [
    `INPUT_${name}`,
    value,
  ]);
  const code = runAction({ ...Object.fromEntries(variables), ...files }, { cwd: folder, run });
  const read = (file) => readFileSync(file, "utf8");
  return { code, summary: read(files.GITHUB_STEP_SUMMARY), outputs: read(files.GITHUB_OUTPUT) };
}

test("action.yml passes every input to the script as a variable, and the script knows no other", () => {
  const action = parse(readFileSync(join(root, "action.yml"), "utf8"));
  const [step, ...more] = action.runs.steps;
  expect(more).toEqual([]);
  const nameOf = (input) => `INPUT_${input.toUpperCase().replaceAll("-", "_")}`;
  expect(step.env).toEqual(
    Object.fromEntries(
      Object.keys(action.inputs).map((input) => [nameOf(input), `\${{ inputs.${input} }}`]),
    ),
  );
  expect(step.run).not.toContain("${{");
  const script = readFileSync(join(root, "scripts/action.mjs"), "utf8");
  const read = [
    ...script.matchAll(/(?:input|lines)\("([A-Z_]+)"\)|option\("[^"]+", "([A-Z_]+)"\)/g),
  ];
  const names = new Set(read.map(([, one, other]) => `INPUT_${one ?? other}`));
  expect([...names].toSorted()).toEqual(Object.keys(step.env).toSorted());
});

test("without a command the action builds and runs its own version, and stops if it cannot", () => {
  const commands = [];
  const run = (status) => (_, words) => {
    commands.push(words);
    return { status, stdout: "{}", stderr: "" };
  };
  const inputs = { COMMAND: "", POLICY: "a.yaml", POLICY_BASE: "b.yaml" };
  act(inputs, run(0));
  expect(commands).toEqual([
    [join(root, "scripts/prepare.mjs"), "start"],
    [
      join(root, "apps/cli/dist/main.js"),
      "policy",
      "diff",
      "b.yaml",
      "a.yaml",
      "--fail-on",
      "looser",
      "--json",
    ],
  ]);
  expect(() => act(inputs, run(1))).toThrow(/install and build countersign. Fix:/);
  expect(commands).toHaveLength(3);
});

test("a looser policy fails the step, a stricter one does not", { timeout: PATIENCE }, () => {
  writeFileSync(join(folder, "looser.yaml"), LOOSER);
  copyFileSync(STARTER, join(folder, "starter.yaml"));
  const looser = act({ POLICY: "looser.yaml", POLICY_BASE: "starter.yaml" });
  expect([looser.code, looser.outputs]).toEqual([1, expect.stringContaining("policy=1\n")]);
  expect(looser.summary).toContain("this one is: **looser**");
  expect(looser.summary).toContain("| looser | ag&#95;ui&#95;content | images | block → allow |");
  const stricter = act({ POLICY: "starter.yaml", POLICY_BASE: "looser.yaml" });
  expect([stricter.code, stricter.summary]).toEqual([0, expect.stringContaining("**stricter**")]);
});

test("the policy before the change can come from a commit", { timeout: PATIENCE }, () => {
  const git = (...words) => {
    const identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
    const done = spawnSync("git", [...identity, ...words], { cwd: folder, encoding: "utf8" });
    expect([done.status, done.stderr]).toEqual([0, expect.anything()]);
    return done.stdout.trim();
  };
  git("init", "-q");
  copyFileSync(STARTER, join(folder, "policy.yaml"));
  git("add", "policy.yaml");
  git("commit", "-q", "-m", "before");
  const before = git("rev-parse", "HEAD");
  writeFileSync(join(folder, "policy.yaml"), LOOSER);
  const compared = act({ POLICY: "policy.yaml", BASE_REF: before });
  expect([compared.code, compared.summary]).toEqual([1, expect.stringContaining("**looser**")]);
  expect(git("worktree", "list").split("\n")).toHaveLength(1);
  const unknown = act({ POLICY: "policy.yaml", BASE_REF: "no-such-commit" });
  expect([unknown.code, unknown.outputs]).toEqual([2, expect.stringContaining("policy=2\n")]);
});

test("attacks run with the options of the inputs, and the reports are in the folder", () => {
  const calls = [];
  const fake = (command, words) => {
    calls.push([command, ...words]);
    writeFileSync(words[words.indexOf("--markdown") + 1], "## Red team\n");
    const comparisons = [
      { id: "A-001", change: "worse", before: "not_exploited", now: "exploited" },
      { id: "A-002", change: "same", before: "error", now: "error" },
    ];
    return { status: 1, stdout: JSON.stringify({ comparisons }), stderr: "" };
  };
  const ran = act(
    {
      COMMAND: "npx countersign",
      TARGET: "http://127.0.0.1:1/; rm -rf /",
      DOCUMENTS: "attacks\nmore attacks/one.yaml\n",
      HEADERS: "x-a: 1\nx-b: 2",
      BASELINE: "old.json",
    },
    fake,
  );
  const [words = []] = calls;
  expect(words.slice(0, 4)).toEqual(["npx", "countersign", "redteam", "run"]);
  expect(words.slice(4, 7)).toEqual(["attacks", "more attacks/one.yaml", "--target"]);
  expect(words).toContain("http://127.0.0.1:1/; rm -rf /");
  expect(words.join(" ")).toContain("--baseline old.json --header x-a: 1 --header x-b: 2");
  expect(ran.code).toBe(1);
  expect(ran.summary).toContain("| A-001 | worse | not&#95;exploited | exploited |");
  expect(ran.summary).not.toContain("A-002");
  expect(ran.outputs).toBe(`redteam=1\npolicy=\nreport=${join(folder, "countersign-report")}\n`);
});

test(
  "the real command runs, and a target that does not answer fails the step",
  { timeout: PATIENCE },
  () => {
    const ran = act({ TARGET: "http://127.0.0.1:9/", FILTER: "agui-001" });
    expect([ran.code, ran.outputs]).toEqual([2, expect.stringContaining("redteam=2\n")]);
    expect(ran.summary).toContain("### Not decided (1)");
    const reports = ["redteam.json", "redteam.xml", "redteam.sarif", "redteam.html"];
    for (const name of reports) {
      expect(readFileSync(join(folder, "countersign-report", name), "utf8")).toContain("AGUI-001");
    }
  },
);

test("a command that cannot run, and inputs that ask for nothing, never pass", () => {
  const missing = act({ COMMAND: join(folder, "missing"), TARGET: "http://127.0.0.1:9/" });
  expect([missing.code, missing.summary]).toEqual([2, expect.stringContaining("exit code 2")]);
  expect(() => act({})).toThrow("nothing to do");
  expect(() => act({ POLICY: "a.yaml" })).toThrow("policy-base or base-ref");
});
