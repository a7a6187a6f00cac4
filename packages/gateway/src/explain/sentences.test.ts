import { readdirSync, readFileSync } from "node:fs";
import { loadPolicy, REASON_CODES } from "@countersign/policy";
import { expect, test } from "vitest";
import { explainName } from "./explain-name.js";
import { tableSentences } from "./sentences.js";

const root = new URL("../../../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const STARTER = loadPolicy(read("packages/policy/policies/starter.yaml")).document;

/** The rule or the code that an explanation leads to. */
function entryOf(sentence: string): string[] {
  const meaning = explainName(sentence, STARTER);
  if (meaning === undefined) return [];
  if (meaning.kind === "sentence") return meaning.means.match(/[\w./-]+/gu) ?? [];
  return meaning.kind.split(" ").slice(-1);
}

test("every title, message, fix and meaning of the tables leads to its entry", () => {
  const sentences = tableSentences();
  expect(sentences.length).toBeGreaterThan(500);
  const wrong = sentences.filter(([sentence, name]) => {
    const entry = entryOf(sentence);
    const rule = (REASON_CODES as Readonly<Record<string, { rule: string }>>)[name]?.rule;
    return !entry.includes(name) && !entry.includes(rule ?? name);
  });
  expect(wrong).toEqual([]);
});

test("a sentence is found with its code, its place and an id around it, and in a line of JSON", () => {
  const sentence = "message 1 speaks as assistant and was not delivered here, or is forgotten";
  const placed = `${sentence}, at /messages/1`;
  const texts = [
    placed,
    `${placed}: greeting`,
    `ERR_HISTORY_INVENTED: ${placed}`,
    JSON.stringify({ level: "warn", msg: "request refused", detail: placed }),
    JSON.stringify({ type: "urn:countersign:problem:ERR_HISTORY_INVENTED", detail: placed }),
  ];
  for (const text of texts) expect(entryOf(text)).toEqual(["ERR_HISTORY_INVENTED"]);
  const log = "12:00 warn event blocked rule=gateway/result thread=t";
  expect(entryOf(log)).toEqual(["gateway/result"]);
  const ended = "the run was ended by policy: capability required for Submit events";
  expect(entryOf(ended)).toEqual(["ag_ui.capability"]);
});

test.each([
  ["the state is larger than 262144 bytes", "ERR_STATE_REFUSED"],
  ["the context is larger than 65536 bytes", "ERR_CONTEXT_REFUSED"],
  ["the forwarded properties are larger than 65536 bytes", "ERR_FORWARDED_PROPS_REFUSED"],
])("a sentence that is put together leads to its entry: %s", (sentence, code) => {
  expect(entryOf(sentence)).toEqual([code]);
});

/** Values for the places of a template; one of them is what the product puts there. */
const VALUES = ["3", "user", "Submit", "run/finish-ids", "state", "text holds active markup"];

/** Literals that are not a sentence of their own: parts of one, keys of a map, words of a client. */
const PARTS: ReadonlySet<string> = new Set([
  "{}, at {}",
  ": {}",
  "input: { {}: { {} } }",
  'state: [{ match: "/{}/**", {} }]',
  "{}; {} was not sent up",
  " (and {} more that were not signed for)",
  "{} {} {}",
  "interrupt {} {}",
  "what is kept of a run is not a beginning of it",
  "User approved this action",
  "User denied this action",
  "{ match: {}, classification: display }",
  "its host in image_hosts, or images: allow,",
  "words without it",
  "a higher max_characters",
  "a higher max_event_characters",
  " in {}",
  "{} at character {}",
  "the state is",
  "the context is",
  "the forwarded properties are",
]);

/** The sentences of the source files below a folder, with `{}` for each value. */
function sentencesIn(folder: string, files: RegExp): [file: string, sentence: string][] {
  const literal = /\/\/.*|\/\*[\s\S]*?\*\/|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/gu;
  return readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test)\.ts$/u.test(file) && files.test(file))
    .flatMap((file) => {
      const text = read(folder + file);
      return [...text.matchAll(literal)].flatMap(({ 1: plain, 2: template, index }) => {
        if (/(?:TypeError|\bError)\(\s*$/u.test(text.slice(0, index))) return [];
        const sentence = (plain ?? template ?? "").replaceAll(/\$\{[^}]*\}/gu, "{}");
        const isSentence = sentence.split(/\s+/u).length > 2 && !PARTS.has(sentence);
        return isSentence ? [[folder + file, sentence] as [string, string]] : [];
      });
    });
}

test.each([
  ["packages/gateway/src/inbound/", /./u, 50],
  ["packages/gateway/src/outbound/", /^(?:decide|deliver|order|record)\/(?!rules\.ts)/u, 40],
  ["packages/gateway/src/event/", /^run-limits/u, 4],
  ["packages/policy/src/compile/", /-rules?\.ts$|-settings\.ts$|^compile\.ts$|-status\.ts$/u, 30],
])("every sentence of a decision in %s leads to an entry of its file", (folder, files, least) => {
  const found = sentencesIn(folder, files);
  expect(found.length).toBeGreaterThanOrEqual(least);
  const lost = found.flatMap(([file, sentence]) => {
    const entries = VALUES.flatMap((value) => entryOf(sentence.replaceAll("{}", value)));
    const codes = entries.filter((entry) => entry.startsWith("ERR_"));
    const isRight = codes.every((code) => read(file).includes(code));
    return entries.length > 0 && isRight ? [] : [`${file}: ${sentence} → ${entries.join(", ")}`];
  });
  expect(lost).toEqual([]);
});
