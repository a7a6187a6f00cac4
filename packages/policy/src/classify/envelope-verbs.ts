import type { JsonObject, JsonValue } from "@countersign/core";
import { isJsonObject } from "@countersign/core";
import type { Classification } from "../vocabulary/classification.js";
import { isAtLeastAsStrict } from "../vocabulary/classification.js";

/** What a `lifecycle` envelope can do to a component. */
type Verb = Extract<Classification, "mutate" | "create" | "destroy">;

const verbs = (verb: Verb, ...words: readonly string[]): [string, Verb][] =>
  words.map((word) => [word, verb]);

const VERBS: ReadonlyMap<string, Verb> = new Map([
  ...verbs("create", "create", "created", "mount", "mounted", "open", "opened"),
  ...verbs("create", "add", "added", "append", "insert", "render", "rendered", "show", "shown"),
  ...verbs("mutate", "update", "updated", "change", "changed"),
  ...verbs("destroy", "destroy", "destroyed", "unmount", "unmounted", "close", "closed"),
  ...verbs("destroy", "delete", "deleted", "remove", "removed", "dismiss", "dismissed"),
  ...verbs("destroy", "hide", "hidden", "dispose", "disposed", "detach", "detached"),
  ...verbs("destroy", "clear", "cleared", "reset", "replace", "replaced", "cancel", "cancelled"),
  ...verbs("destroy", "kill", "drop", "collapse", "minimize", "exit", "terminate", "unload"),
]);

/** Words that switch a component on or off when a member has that name: `open: false` closes it. */
const SWITCHES: ReadonlySet<string> = new Set(["visible", "visibility"]);

/** Members whose value says what to do; one with another value than a known verb counts as the strictest. */
const VERB_MEMBERS: ReadonlySet<string> = new Set([
  "action",
  "lifecycle",
  "event",
  "op",
  "operation",
  "verb",
  "command",
  "cmd",
  "method",
]);

/** Members with which a payload describes a component instead of naming a verb: that creates it. */
const DESCRIPTION: ReadonlySet<string> = new Set([
  "fields",
  "title",
  "subtitle",
  "heading",
  "label",
  "description",
  "text",
  "message",
  "body",
  "content",
  "items",
  "options",
  "columns",
  "rows",
  "data",
  "props",
  "schema",
  "value",
  "values",
  "defaults",
  "placeholder",
  "name",
  "id",
  "layout",
  "variant",
  "size",
  "prompt",
  "component",
  "children",
  "steps",
  "sections",
]);

/** The strictest class of a `lifecycle` envelope: that of everything not known. */
const STRICTEST: Verb = "destroy";

/** Values that are looked at one by one; a larger payload counts as the strictest. */
const MAX_VALUES = 10_000;

/** Longer strings, and strings with a space, are prose: no client reads a verb from them. */
const LONGEST_NAME = 64;

type Place = { readonly value: JsonValue; readonly isVerb: boolean };

/**
 * What a `lifecycle` payload does to a component: the strictest verb anywhere in it, at any depth, in lists, in
 * any letter case, as a value or as the name of a member. Clients differ in which one they read.
 */
export function componentClass(payload: JsonValue | undefined): Verb {
  const found = new Set<Verb>();
  let hasVerbMember = false;
  const open: Place[] = [{ value: payload ?? null, isVerb: false }];
  let seen = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if ((seen += 1) > MAX_VALUES) return STRICTEST;
    const { value, isVerb } = place;
    if (Array.isArray(value)) {
      for (const item of value) open.push({ value: item, isVerb });
    } else if (isJsonObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        const words = wordsOf(name);
        if (words.some((word) => VERBS.has(word) || SWITCHES.has(word))) return STRICTEST;
        const isVerbMember = words.length === 1 && VERB_MEMBERS.has(words[0] ?? "");
        hasVerbMember ||= isVerbMember;
        open.push({ value: inner, isVerb: isVerb || isVerbMember });
      }
    } else {
      const words = typeof value === "string" ? wordsOf(value) : [];
      const named = words.flatMap((word) => VERBS.get(word) ?? []);
      // Where a verb belongs, only a verb that stands alone is known.
      if (isVerb && (named.length !== 1 || words.length !== 1)) return STRICTEST;
      for (const verb of named) found.add(verb);
    }
  }
  if (!hasVerbMember && !isDescription(payload)) return STRICTEST;
  // A description creates; with a verb the verb says it.
  let strictest: Verb = hasVerbMember ? "mutate" : "create";
  for (const verb of found) if (isAtLeastAsStrict(verb, strictest)) strictest = verb;
  // A verb member with nothing in it (`action: []`) says nothing.
  return hasVerbMember && found.size === 0 ? STRICTEST : strictest;
}

function isDescription(payload: JsonValue | undefined): boolean {
  if (payload === undefined || payload === null) return true;
  return (
    isJsonObject(payload) &&
    Object.keys(payload as JsonObject).every((name) => DESCRIPTION.has(name))
  );
}

/** Words for what a person does, which a text about the progress of a run has no use for. */
const ACTS: readonly string[] =
  "submit pay send confirm approve accept buy purchase transfer navigate redirect goto download upload login execute".split(
    " ",
  );
const DANGEROUS: readonly string[] = [...VERBS.keys(), ...SWITCHES, ...ACTS];

/**
 * Whether a text could be read as a verb: a name that holds one anywhere (`CLOSEMODAL`), or prose that has one as a
 * word.
 */
export function hasVerb(text: string): boolean {
  const plain = text.normalize("NFKC").replace(/\p{Cf}/gu, "");
  const words = plain.trim().split(/\s+/u);
  if (words.length > 1) return words.some((word) => partsOf(word).some(isDangerous));
  const letters = plain.toLowerCase().replace(/[^\p{L}]/gu, "");
  return DANGEROUS.some((verb) => letters.includes(verb));
}

function isDangerous(word: string): boolean {
  return DANGEROUS.includes(word);
}

/** The words of a name in lower case: `closeModal`, `CLOSE_MODAL` and `modal.close` have the word `close`. */
function wordsOf(text: string): string[] {
  if (text.length > LONGEST_NAME) return [];
  const name = text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .trim();
  return /\s/u.test(name) ? [] : partsOf(name);
}

function partsOf(name: string): string[] {
  return name
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, "-")
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== "");
}
