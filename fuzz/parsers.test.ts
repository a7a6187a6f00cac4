import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NOT_FUZZED } from "./not-fuzzed.js";
import { TARGETS } from "./targets/index.js";

const root = join(import.meta.dirname, "..");

/** Names that turn bytes or texts into values, by the contracts in CONTRIBUTING.md. */
const PARSER =
  /^(?:decode|parse|read|unwrap|verify)[A-Z]\w*$|^(?:parse|open(?:Checkpoint|ReceiptsFile)|import(?:Receipt|PublicKeyPem|PrivateKey)|load(?:Config|Policy)|enforce(?:Event|Input)\w*)$|^create\w*(?:Decoder|Parser|Reader|Scanner|Upgrader|Expander|Sequence|Translator)$|(?:Decoder|Parser|Scanner|BlockReader)$/u;
const EXPORT = /^export (?:async )?(?:function\*? |const |class )(\w+)/gmu;

function exportedParsers(): string[] {
  return ["packages", "apps"].flatMap((folder) =>
    readdirSync(join(root, folder)).flatMap((name) => parsersBelow(`${folder}/${name}/src`)),
  );
}

function parsersBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => `${folder}/${path}`)
    .filter(
      (path) => /\.tsx?$/u.test(path) && !/\.test(?:-d)?\.|\/(?:testing|generated)\//u.test(path),
    )
    .flatMap((path) => {
      const text = readFileSync(join(root, path), "utf8");
      const names = [...text.matchAll(EXPORT)].map(([, name = ""]) => name);
      return names.filter((name) => PARSER.test(name)).map((name) => `${path}#${name}`);
    })
    .toSorted();
}

const covered = TARGETS.flatMap(({ covers }) => covers);
const exempt = Object.values(NOT_FUZZED).flat();

test("every exported parser has a fuzz target, or a reason why it has none", () => {
  const known = new Set([...covered, ...exempt]);
  expect(exportedParsers().filter((name) => !known.has(name))).toEqual([]);
});

test("the tables name no parser that is gone, and none in both", () => {
  const gone = [...covered, ...exempt].filter((name) => {
    const [path = "", symbol = ""] = name.split("#");
    const text = readFileSync(join(root, path), "utf8");
    return ![...text.matchAll(EXPORT)].some(([, found]) => found === symbol);
  });
  expect(gone).toEqual([]);
  expect(exempt.filter((name) => covered.includes(name))).toEqual([]);
});

test("targets have names of their own and seeds", () => {
  expect(new Set(TARGETS.map(({ name }) => name)).size).toBe(TARGETS.length);
  expect(TARGETS.filter(({ seeds }) => seeds.length === 0)).toEqual([]);
});
