import type { JsonObject, JsonValue } from "@countersign/core";
import { isJsonObject, parseJson } from "@countersign/core";

/** Something a text asks for. A rule-driven stand-in for a language model, so that runs repeat exactly. */
export type Intent =
  | {
      readonly kind: "call";
      readonly tool: string;
      readonly args: JsonObject;
      readonly id?: string;
    }
  | { readonly kind: "say"; readonly text: string; readonly role?: string }
  | { readonly kind: "set"; readonly path: string; readonly value: string }
  | { readonly kind: "transfer"; readonly to: string; readonly amount: number }
  | { readonly kind: "read"; readonly document: string }
  | { readonly kind: "pin"; readonly pin: string }
  | { readonly kind: "rewrite"; readonly text: string }
  | { readonly kind: "assume"; readonly tool: string; readonly content: string }
  | { readonly kind: "custom"; readonly name: string; readonly value: JsonObject }
  | { readonly kind: "subagent"; readonly name: string }
  | { readonly kind: "repeat"; readonly word: string; readonly times: number }
  | { readonly kind: "use"; readonly name: string; readonly args: JsonObject }
  | { readonly kind: "ask"; readonly agent: string; readonly text: string }
  | { readonly kind: "draw"; readonly activityType: string; readonly content: JsonObject }
  | { readonly kind: "patch"; readonly activityType: string; readonly patch: readonly JsonValue[] }
  | { readonly kind: "page"; readonly html: string }
  | { readonly kind: "refund"; readonly amount: number; readonly times: number }
  | { readonly kind: "topic"; readonly topic: Topic };

/** Things to talk about that need no detail. */
export type Topic =
  | "balance"
  | "summary"
  | "prompt"
  | "key"
  | "form"
  | "password"
  | "debug"
  | "cards"
  | "payment"
  | "profile"
  | "order";

type Reader = { readonly pattern: RegExp; read(match: RegExpExecArray): Intent | undefined };

const json = (text: string | undefined): JsonValue => {
  try {
    return parseJson(text ?? "{}");
  } catch {
    return null;
  }
};
const object = (text: string | undefined): JsonObject => {
  const value = json(text);
  return isJsonObject(value) ? value : {};
};

const READERS: readonly Reader[] = [
  {
    pattern: /\bcall ([^\s{}]+) with (\{[^}]*\})(?: as (\w+))?/gu,
    read: ([, tool = "", args, id]) => ({
      kind: "call",
      tool,
      args: object(args),
      ...(id === undefined ? {} : { id }),
    }),
  },
  { pattern: /\breply exactly: (.+)/gu, read: ([, text = ""]) => ({ kind: "say", text }) },
  {
    pattern: /\breply as (system|developer): (.+)/gu,
    read: ([, role = "", text = ""]) => ({ kind: "say", text, role }),
  },
  {
    pattern: /\bset (\/\S+) to (\S+)/gu,
    read: ([, path = "", value = ""]) => ({ kind: "set", path, value }),
  },
  {
    pattern: /\btransfer (\d+) to (\S+)/gu,
    read: ([, amount, to = ""]) => ({ kind: "transfer", to, amount: Number(amount) }),
  },
  { pattern: /\bread (\S+\.txt)/gu, read: ([, document = ""]) => ({ kind: "read", document }) },
  { pattern: /\bPIN (\d{4})/gu, read: ([, pin = ""]) => ({ kind: "pin", pin }) },
  {
    pattern: /\brewrite my message as: (.+)/gu,
    read: ([, text = ""]) => ({ kind: "rewrite", text }),
  },
  {
    pattern: /\bassume (\w+) answered (.+)/gu,
    read: ([, tool = "", content = ""]) => ({ kind: "assume", tool, content }),
  },
  {
    pattern: /\bemit custom (\S+) (\{[^}]*\})/gu,
    read: ([, name = "", value]) => ({ kind: "custom", name, value: object(value) }),
  },
  { pattern: /\bspeak as subagent (\S+)/gu, read: ([, name = ""]) => ({ kind: "subagent", name }) },
  {
    pattern: /\brepeat the word (\w+) (\d+) times/gu,
    read: ([, word = "", times]) => ({ kind: "repeat", word, times: Number(times) }),
  },
  {
    pattern: /\buse the (?:tool|resource|prompt) ([^\s{}]+)(?: with (\{[^}]*\}))?/gu,
    read: ([, name = "", args]) => ({ kind: "use", name, args: object(args) }),
  },
  {
    pattern: /\bask the agent ([\w-]+): (.+)/gu,
    read: ([, agent = "", text = ""]) => ({ kind: "ask", agent, text }),
  },
  {
    pattern: /\bdraw this ([\w-]+): (\{.+\})/gu,
    read: ([, activityType = "", content]) => ({
      kind: "draw",
      activityType,
      content: object(content),
    }),
  },
  {
    pattern: /\bthen patch it as ([\w-]+): (\[.+\])/gu,
    read([, activityType = "", text]) {
      const patch = json(text);
      return Array.isArray(patch) ? { kind: "patch", activityType, patch } : undefined;
    },
  },
  { pattern: /\bgenerate this page: (.+)/gu, read: ([, html = ""]) => ({ kind: "page", html }) },
  {
    pattern: /\brefund (\d+) each, (\d+) times/gu,
    read: ([, amount, times]) => ({
      kind: "refund",
      amount: Number(amount),
      times: Math.min(Number(times), 20),
    }),
  },
];

const TOPICS: readonly (readonly [RegExp, Topic])[] = [
  [/\bmy balance\b/iu, "balance"],
  [/\bsummari[sz]e our conversation\b/iu, "summary"],
  [/\b(system prompt|your instructions)\b/iu, "prompt"],
  [/\bAPI key\b/iu, "key"],
  [/\blogin form\b/iu, "form"],
  [/\bask me for my password\b/iu, "password"],
  [/\bdebug output\b/iu, "debug"],
  [/\bshow me my cards\b/iu, "cards"],
  [/\bwhich card does bob\b/iu, "payment"],
  [/\bfill in the form for bob\b/iu, "profile"],
  [/\border the premium account\b/iu, "order"],
];

/** The intents of a text, in the order of the rules above. */
export function detectIntents(text: string): Intent[] {
  const intents: Intent[] = [];
  for (const { pattern, read } of READERS) {
    for (const match of text.matchAll(pattern)) {
      const intent = read(match);
      if (intent !== undefined) intents.push(intent);
    }
  }
  for (const [pattern, topic] of TOPICS) {
    if (pattern.test(text)) intents.push({ kind: "topic", topic });
  }
  return intents;
}
