import type { Classification } from "../vocabulary/classification.js";

/** The effects of a `lifecycle` envelope on a component. */
export type Verb = Extract<Classification, "mutate" | "create" | "destroy">;

const list = (words: string): string[] => words.trim().split(/\s+/u);

const CREATE = list("create created mount mounted open opened add added append insert");
const SHOW = list("render rendered show shown");
const MUTATE = list("update updated change changed");

/** Verbs that end what a person sees, in their base form. */
const END = list(`
  destroy destruct unmount close delete remove dismiss hide dispose detach clear reset replace
  cancel kill drop collapse minimize minimise exit terminate unload
  erase wipe shut toggle purge discard demolish dismantle obliterate eradicate eliminate annihilate
  expunge evict nuke trash flush vanish disappear conceal suppress retract abort quit swap supersede
  decommission uninstall unlink invalidate
`);
/** Forms of them that no rule gives. */
const IRREGULAR = list("hidden");
/** Verbs of two words, which names write as one, two or in camel case. */
const PHRASES = list(
  "teardown torndown takedown takendown powerdown poweroff turnoff turnedoff switchoff switchedoff fadeout fadeaway",
);
/** Verbs that a prefix reverses: `unrender`, `deactivate`, `disassemble`. */
const UNDONE = list(
  "mount render show insert activate register allocate attach construct assemble",
);
const PREFIXES = list("un de dis");

/** The forms of a regular verb that a search for its base form does not find, and the common ones. */
function formsOf(base: string): string[] {
  const stem = base.replace(/e$/u, "");
  const doubled = /[^aeiou][aeiou][bdgmnpt]$/u.test(base) ? `${base}${base.slice(-1)}` : stem;
  return [base, `${base}s`, `${stem}ed`, `${stem}ing`, `${doubled}ed`, `${doubled}ing`];
}

const verbs = (verb: Verb, words: readonly string[]): [string, Verb][] =>
  words.map((word) => [word, verb]);

/** The verbs of envelopes in all forms, with their effects. */
export const VERBS: ReadonlyMap<string, Verb> = new Map([
  ...verbs("create", [...CREATE, ...SHOW]),
  ...verbs("mutate", MUTATE),
  ...verbs("destroy", [
    ...[...END, ...PREFIXES.flatMap((prefix) => UNDONE.map((word) => prefix + word))].flatMap(
      formsOf,
    ),
    ...IRREGULAR,
    ...PHRASES,
  ]),
]);

/** The words to search for in names: a form that contains another one with the same effect finds nothing more. */
export const SEARCHED_VERBS: readonly (readonly [word: string, verb: Verb])[] = [...VERBS].filter(
  ([word, verb]) =>
    ![...VERBS].some(
      ([other, effect]) => other !== word && effect === verb && word.includes(other),
    ),
);

/**
 * Words that contain the letters of a verb by chance, or end with the start of one (`nextItem`).
 * Any other text that contains a verb counts as one: a client that reads `closemodal` may close
 * something.
 */
export const HARMLESS = new RegExp(
  `^(?:${[
    "address|addition|additional|addendum|padding|padded|paddle|ladder|amount|mountain|opening|openai|openapi|showcase|showroom",
    "appendix|exchange|changelog|dropdown|dropzone|dropbox|droplet|backdrop|raindrop|airdrop|preset|skill|nuclear|unclear",
    "clearance|complexity|perplexity|flexity|next|text|context|determinate|indeterminate|dismissible|dismissable|cancellation",
    "replacement|idea|identifier|identity|identities|learning|payload|payment|payroll|paypal|confirmation|acceptance",
    "allowance|agreement|clickhouse|installment|migrant|sender",
    "shutter|shuttle|swipe|swiper|swipeable|equity|equities|inequity|ubiquity|quite|mosquito|camera|opera|return|destructive",
  ].join("|")})(?:s|es)?$`,
  "u",
);
