import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runProgram as run } from "../../testing/run-program.js";
import { registerInit } from "../init.js";
import { registerPolicy } from "./index.js";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "countersign-policy-"));
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

test("init writes files that check and test accept, and never overwrites by itself", async () => {
  const home = join(directory, "new");
  expect((await run("init", home, "--agent", "http://agent.test/x")).code).toBe(0);
  expect(readFileSync(join(home, "countersign.yaml"), "utf8")).toContain("http://agent.test/x");
  expect(await run("policy", "check", join(home, "policy.yaml"))).toMatchObject({ code: 0 });
  const { code, out } = await run("policy", "test", join(home, "policy.test.yaml"));
  expect(out).toMatch(/: (\d+) of \1 cases pass/);
  expect(code).toBe(0);
  // The day it enforces, the same cases hold.
  const enforcing = join(home, "policy.yaml");
  writeFileSync(
    enforcing,
    readFileSync(enforcing, "utf8").replace("mode: observe", "mode: enforce"),
  );
  await expect(run("policy", "test", enforcing)).rejects.toThrow(
    `Fix: countersign policy test ${join(home, "policy.test.yaml")}`,
  );
  const enforced = await run("policy", "test", join(home, "policy.test.yaml"));
  expect(enforced.out).toMatch(/: (\d+) of \1 cases pass/);
  const again = await run("init", home, "--json");
  expect(again.code).toBe(1);
  expect(JSON.parse(again.out)).toMatchObject({ written: [], kept: { length: 5 } });
});

test("check names file, line, column and the key that was meant, and fails", async () => {
  const bad = file("bad.yaml", "ag_ui:\n  transprt: sse\n");
  const { code, out } = await run("policy", "check", bad);
  expect(code).toBe(1);
  expect(out).toContain(`${bad}:2:3: unknown key "transprt" in ag_ui (did you mean "transport"?)`);
  const json = await run("policy", "check", bad, "--json");
  expect(JSON.parse(json.out)).toMatchObject({
    ok: false,
    files: [{ ok: false, issues: [{ line: 2, column: 3, suggestion: "transport" }] }],
  });
});

test("a case that was written for the other mode says so", async () => {
  const policy = file("mode.yaml", "ag_ui: { allow_display_without_capability: true }\n");
  const cases = file(
    "mode.test.yaml",
    `cases:
  - { name: a, event: { type: STATE_SNAPSHOT, snapshot: { a: 1 } }, expect: { decision: observe } }
  - { name: b, event: { type: STATE_SNAPSHOT, snapshot: { a: 1 } }, expect: { decision: deny } }
`,
  );
  const { code, out } = await run("policy", "test", cases, "--policy", policy);
  expect(code).toBe(1);
  expect(out).toContain("written for a policy that observes, deny holds for both");
  expect(out).toContain("1 of 2 cases pass");
});

test.skipIf(process.platform === "win32")(
  "an extended policy that is a pipe is refused instead of waited for",
  async () => {
    const pipe = join(directory, "pipe.yaml");
    execFileSync("mkfifo", [pipe]);
    const child = file("waits.yaml", 'hushspec: "0.1.0"\nextends: ./pipe.yaml\n');
    await expect(run("policy", "check", child)).rejects.toMatchObject({ code: "ERR_FILE_KIND" });
  },
);

test("check follows extends to files beside the policy", async () => {
  file("base.yaml", 'hushspec: "0.1.0"\nrules:\n  ag_ui: {}\n');
  const child = file("child.yaml", 'hushspec: "0.1.0"\nextends: ./base.yaml\n');
  expect((await run("policy", "check", child)).code).toBe(0);
});

test("explain shows every rule and exits with the decision", async () => {
  const policy = file("p.yaml", "ag_ui: { allow_display_without_capability: true }\n");
  const event = file("e.json", '{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}');
  const args = ["policy", "explain", "--policy", policy, "--event", event];
  const blocked = await run(...args);
  expect(blocked.code).toBe(1);
  expect(blocked.out).toContain("state_update mutate on no target");
  expect(blocked.out).toContain(
    "blocked by ag_ui.capability: capability required for Mutate events",
  );
  expect(blocked.out).toContain("- match: /a/**\n");
  expect((await run(...args, "--scope", "ui:mutate:*")).code).toBe(0);
  const json = JSON.parse((await run(...args, "--json")).out);
  expect(json.decision).toMatchObject({ allow: false, reasonCode: "capability_required" });
});

test("a failing case prints the difference, and the run says which rules no case reaches", async () => {
  file("q.yaml", "ag_ui: { allow_display_without_capability: true }\n");
  const cases = file(
    "q.test.yaml",
    "cases:\n  - name: state\n    event: { type: STATE_SNAPSHOT, snapshot: { a: 1 } }\n    expect: { decision: allow }\n",
  );
  const { code, out } = await run("policy", "test", cases);
  expect(code).toBe(1);
  expect(out).toContain("expected allow, got block (ag_ui.capability:");
  expect(out).toContain("\n  ag_ui.max_events_per_second");
});

test("replay counts what changes and shows samples", async () => {
  const capture = file(
    "c.agui.jsonl",
    '{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}\nnot json\n',
  );
  const strict = file("strict.yaml", "ag_ui: { allow_display_without_capability: true }\n");
  const { code, out } = await run("policy", "replay", "--policy", strict, "--from", capture);
  expect(code).toBe(1);
  expect(out).toContain("2 events evaluated, 1 lines skipped");
  expect(out).toMatch(/newly blocked\s+1/);
  expect(out).toContain("allow → block: capability required for Mutate events");
  const same = await run("policy", "replay", "-p", strict, "-f", capture, "--against", strict);
  expect(same.code).toBe(0);
});

test("schema prints the grammar", async () => {
  expect(JSON.parse((await run("policy", "schema")).out).title).toBe("Countersign policy");
});

test("every verb has an example in its help", () => {
  const program = new Command("countersign");
  registerPolicy(program);
  registerInit(program);
  const verbs = program.commands.flatMap((entry) =>
    entry.commands.length > 0 ? [...entry.commands] : [entry],
  );
  for (const verb of verbs) {
    let help = "";
    verb.configureOutput({ writeOut: (text) => (help += text) });
    verb.outputHelp();
    expect(help).toContain("Examples:");
  }
});

test("explain says what a rule and a refusal mean, and lists every rule", async () => {
  const rule = await run("policy", "explain", "gateway/withheld");
  expect(rule.code).toBe(0);
  expect(rule.out).toContain("gateway/withheld: the gateway withholds every interrupt");
  expect(rule.out).toContain("ag_ui_classify.interrupts");
  const code = await run("policy", "explain", "ERR_HISTORY_DROPPED", "--json");
  expect(JSON.parse(code.out)).toMatchObject({ code: "ERR_HISTORY_DROPPED", status: 403 });
  expect((await run("policy", "explain", "ORIGIN_NOT_ALLOWED")).out).toContain("under origins");
  const all = JSON.parse((await run("policy", "explain", "--rules", "--json")).out) as object[];
  expect(all.length).toBeGreaterThan(40);
  for (const name of ["gateway/nothing", "ERR_NOBODY_KNOWS", "x y"]) {
    await expect(run("policy", "explain", name)).rejects.toThrow("is not a rule, a code");
  }
  await expect(run("policy", "explain")).rejects.toThrow("name a rule");
});

test("explain shows what the gateway itself says to a request, and what only its thread can tell", async () => {
  const policy = file("request.yaml", "ag_ui: { allow_display_without_capability: true }\n");
  const request = { threadId: "t", runId: "r", messages: [], forwardedProps: { locale: "de" } };
  const event = file("request.json", JSON.stringify(request));
  const { code, out } = await run("policy", "explain", "--policy", policy, "--event", event);
  expect(code).toBe(1);
  expect(out).toContain("later ag_ui_request.threads: held against its thread when it is sent");
  expect(out).toContain("block ag_ui_request.forwarded_props: the forwarded properties have a key");
  expect(out).toContain("at /forwardedProps/locale");
  expect(out).toContain("refused by ag_ui_request.forwarded_props: ERR_FORWARDED_PROPS_REFUSED");
});

test("explain takes the problem document that a refused client got", async () => {
  const document = {
    type: "urn:countersign:problem:ERR_STATE_REFUSED",
    code: "ERR_STATE_REFUSED",
    pointer: "/state/role",
  };
  const event = file("problem.json", JSON.stringify(document));
  const { out } = await run("policy", "explain", "--event", event);
  expect(out).toContain("ERR_STATE_REFUSED (HTTP 403)");
  expect(out).toContain("/state/role");
});

const CODES = readdirSync(new URL("../../../../../docs/errors/", import.meta.url)).flatMap((page) =>
  [
    ...readFileSync(
      new URL(`../../../../../docs/errors/${page}`, import.meta.url),
      "utf8",
    ).matchAll(/^## (ERR_\w+)/gmu),
  ].map(([, code]) => code ?? ""),
);

test("every code of docs/errors is explained with cause and remedy, those of the listeners too", async () => {
  expect(CODES.length).toBeGreaterThan(200);
  for (const code of CODES) {
    const { out } = await run("policy", "explain", code, "--json");
    expect(JSON.parse(out), code).toMatchObject({
      code,
      cause: expect.stringMatching(/\w{3}/u),
      remedy: expect.stringMatching(/\w{3}/u),
    });
  }
  const { out } = await run("policy", "explain", "ERR_ACCESS_TOKEN");
  expect(out).toContain("ERR_ACCESS_TOKEN (HTTP 401): Invalid credential");
  expect(out).toMatch(/cause {2}.+\nfix {4}.+/u);
});
