import type { JsonObject, JsonValue } from "@countersign/core";
import { isJsonObject } from "@countersign/core";
import { isAtLeastAsStrict } from "../vocabulary/classification.js";
import { HARMLESS, SEARCHED_VERBS, VERBS } from "./verb-words.js";
import type { Verb } from "./verb-words.js";

/** Words that switch a component on or off when a member has that name: `open: false` closes it. */
const SWITCHES: ReadonlySet<string> = new Set(["visible", "visibility"]);

/** Members whose value is a verb; an unknown value counts as the strictest. */
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

/** The strictest class of a `lifecycle` envelope: that of everything unknown. */
const STRICTEST: Verb = "destroy";

/**
 * Maximum number of values that are checked one by one; a larger payload counts as the strictest.
 */
const MAX_VALUES = 10_000;

/** Maximum number of characters that are searched for verbs; a larger payload counts as the strictest. */
const MAX_CHARACTERS = 200_000;

/** Maximum length of an id or of the name of a step; AG-UI events have the same limit. */
const LONGEST_LABEL = 1024;

/** Maximum length of a member name; a longer one counts as the strictest. */
const LONGEST_NAME = 64;

type Place = { readonly value: JsonValue; readonly isVerb: boolean };

/**
 * The effect of a `lifecycle` payload on a component: the strictest verb anywhere in it, at any
 * depth, in lists, in any letter case, as a value or as a member name. Clients differ in which one
 * they read.
 */
export function componentClass(payload: JsonValue | undefined): Verb {
  const found = new Set<Verb>();
  let hasVerbMember = false;
  const open: Place[] = [{ value: payload ?? null, isVerb: false }];
  let seen = 0;
  let characters = 0;
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if ((seen += 1) > MAX_VALUES) return STRICTEST;
    const { value, isVerb } = place;
    if (typeof value === "string" && (characters += value.length) > MAX_CHARACTERS) {
      return STRICTEST;
    }
    if (Array.isArray(value)) {
      for (const item of value) open.push({ value: item, isVerb });
    } else if (isJsonObject(value)) {
      for (const [name, inner] of Object.entries(value)) {
        if (name.length > LONGEST_NAME || holdsAny(name, COMPONENT_WORDS, NOTHING)) {
          return STRICTEST;
        }
        const isVerbMember = VERB_MEMBERS.has(toPlain(name).replace(/[^\p{L}]/gu, ""));
        hasVerbMember ||= isVerbMember;
        open.push({ value: inner, isVerb: isVerb || isVerbMember });
      }
    } else if (isVerb) {
      // In a verb member only a verb that stands alone is known.
      const verb = typeof value === "string" ? VERBS.get(toPlain(value)) : undefined;
      if (verb === undefined) return STRICTEST;
      found.add(verb);
    } else if (typeof value === "string") {
      for (const verb of verbsOf(value)) found.add(verb);
    }
  }
  if (!hasVerbMember && !isDescription(payload)) return STRICTEST;
  // A description creates; with a verb member the verb decides.
  let strictest: Verb = hasVerbMember ? "mutate" : "create";
  for (const verb of found) if (isAtLeastAsStrict(verb, strictest)) strictest = verb;
  // An empty verb member (`action: []`) is not a known verb.
  return hasVerbMember && found.size === 0 ? STRICTEST : strictest;
}

/**
 * The effects of the verbs within a value. A text with spaces is prose: no client reads a verb from
 * it.
 */
function verbsOf(value: string): Verb[] {
  if (isOpaque(value)) return [];
  if (/\s/u.test(toVisible(value))) return [];
  const letters = lettersOf(value, NOTHING);
  return SEARCHED_VERBS.flatMap(([word, verb]) => (letters.includes(word) ? [verb] : []));
}

function isDescription(payload: JsonValue | undefined): boolean {
  if (payload === undefined || payload === null) return true;
  return (
    isJsonObject(payload) &&
    Object.keys(payload as JsonObject).every((name) => DESCRIPTION.has(name))
  );
}

/** Words for user actions, which a text about the progress of a run does not need. */
const ACTS: readonly string[] = (
  "submit pay send confirm approve accept buy purchase transfer navigate redirect goto download upload login logout " +
  "execute authorize authorise grant allow permit consent agree withdraw deposit donate subscribe install revoke reject " +
  "deny enable disable activate unlock click signin signup checkout"
).split(" ");
const COMPONENT_WORDS: readonly string[] = [...SEARCHED_VERBS.map(([word]) => word), ...SWITCHES];
const DANGEROUS: readonly string[] = [...COMPONENT_WORDS, ...ACTS];

/**
 * Whether a text about the progress of a run could be read as a verb: one of its words or names
 * contains one. A text that is longer than any id or name counts as one.
 */
export function hasVerb(text: string): boolean {
  if (text.length > LONGEST_LABEL) return true;
  if (isOpaque(text)) return false;
  return toVisible(text)
    .split(/\s+/u)
    .some((word) => !isProgressive(word.toLowerCase()) && holdsAny(word, DANGEROUS, SEPARATORS));
}

/** `sending`, `downloading…`: the progress of a run. */
function isProgressive(word: string): boolean {
  const stem = /^(\p{L}+)ing[.,:;\u2026]*$/u.exec(word)?.[1];
  if (stem === undefined) return false;
  const roots = [stem, `${stem}e`, stem.slice(0, -1)];
  return roots.some((root) => DANGEROUS.includes(root));
}

const SEPARATORS = /[_.:/-]/g;
const NOTHING = /(?!)/g;
const CAMEL_CASE = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu;

function toVisible(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .trim();
}

function toPlain(text: string): string {
  return toVisible(text).toLowerCase();
}

/** The letters of a name that may contain a verb, in lower case, without harmless whole words. */
function lettersOf(name: string, joined: RegExp): string {
  return toVisible(name)
    .replace(CAMEL_CASE, "\u200B")
    .replace(/\p{L}+/gu, (word) => {
      const lower = word.toLowerCase();
      return HARMLESS.test(lower) ? " " : lower;
    })
    .replaceAll("\u200B", "")
    .replace(joined, "")
    .replace(/[^\p{L}]+/gu, " ");
}

function holdsAny(name: string, words: readonly string[], joined: RegExp): boolean {
  const letters = lettersOf(name, joined);
  return words.some((word) => letters.includes(word));
}

const HEX = /^(?:[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const EMBEDDED = /^data:[a-z]+\/[a-z0-9.+-]+;base64,[A-Za-z0-9+/]*={0,2}$/;

/** Ids and files, which contain letters by chance: UUIDs, digests and embedded data. */
function isOpaque(text: string): boolean {
  return HEX.test(text) || EMBEDDED.test(text);
}
