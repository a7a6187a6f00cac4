import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "./program.js";
import { runProgram } from "./testing/run-program.js";

const ROOT = new URL("../../../", import.meta.url);
const program = createProgram();
const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
const nameOf = (command: Command): string =>
  command.parent === null ? "" : `${nameOf(command.parent)} ${command.name()}`.trim();
const verbs = all(program).filter(({ commands }) => commands.length === 0);

/** The calls of the command in lines for a shell. */
function callsIn(text: string): string[][] {
  const lines = text.replaceAll(/\\\n\s*/gu, " ").split("\n");
  return lines
    .flatMap((line) => line.split(/\s\|\s|&&|\s#\s|\s&$|\s{3,}/u))
    .map((part) => part.trim().replace(/^\$ /u, "").replace(/^npx /u, ""))
    .filter((part) => part.startsWith("countersign "))
    .map((part) => part.match(/'[^']*'|"[^"]*"|\S+/gu)?.slice(1) ?? []);
}

/** The words of a call that the command does not know: a verb, or an option. */
function unknownIn(words: readonly string[]): string[] {
  let command = program;
  const rest = [...words];
  for (;;) {
    const next = command.commands.find((one) => one.name() === rest[0]);
    if (next === undefined) break;
    command = next;
    rest.shift();
  }
  if (command.commands.length > 0) return [`${words.join(" ")}: no such command`];
  const known = new Set(["--help", ...command.options.flatMap(({ short, long }) => [short, long])]);
  return rest.filter((word) => /^--?[a-z]/u.test(word) && !known.has(word));
}

test("the help of every command has examples, and each uses commands and options that exist", async () => {
  expect(verbs.length).toBeGreaterThan(20);
  for (const verb of verbs) {
    const name = nameOf(verb);
    const { out } = await runProgram("help", ...name.split(" "));
    const [, examples = ""] = out.split(/^Examples?:\n/mu);
    const calls = callsIn(examples);
    expect([name, calls.length > 0]).toEqual([name, true]);
    expect([name, calls.flatMap(unknownIn)]).toEqual([name, []]);
  }
});

test.each(["README.md", "apps/cli/README.md"])(
  "%s uses commands and options that exist",
  (page) => {
    const calls = callsIn(readFileSync(new URL(page, ROOT), "utf8"));
    expect(calls.length).toBeGreaterThan(2);
    expect(calls.flatMap(unknownIn)).toEqual([]);
  },
);

test("every command has --json, and every option says what it does", () => {
  for (const verb of verbs) {
    expect([nameOf(verb), verb.options.some(({ long }) => long === "--json")]).toEqual([
      nameOf(verb),
      true,
    ]);
    for (const { description } of [...verb.options, ...verb.registeredArguments]) {
      expect(description).toMatch(/\w{3}/u);
    }
  }
});

test("without arguments the command says what it is and the first three things to do", async () => {
  const { out, code } = await runProgram();
  expect(code).toBe(0);
  expect(out).toContain("gateway between AI agents");
  for (const step of ["1.", "2.", "3."]) expect(out).toContain(step);
  const calls = out.split("\n").flatMap((line) => callsIn(line.replace(/^\s*\d\. /u, "")));
  expect(calls.map(([verb]) => verb)).toEqual(["demo", "init", "serve"]);
});
