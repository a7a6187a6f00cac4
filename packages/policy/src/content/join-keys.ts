import type { JsonObject, JsonValue } from "@countersign/core";
import { MESSAGE_IDS, RUN_IDS } from "../classify/envelope-payload.js";
import { memberOf } from "./parts.js";

/** By what a client can keep the texts of a stream apart, with the value of one text; `null` is a value like any other. */
export type Column = { readonly name: string; readonly value: string; readonly isMessage: boolean };

/** Columns that separated all texts so far in the same way. */
type Group = { readonly prefix: "m" | "p"; readonly columns: Set<string> };

/** What {@link JoinKeys.next} says about a text. */
export type TextKeys = {
  /** The keys of the text, one for each group of columns that separated any texts so far. */
  readonly keys: readonly string[];
  /** Keys with an id of a message in them. */
  readonly messages: readonly string[];
  /** Groups that this text divides: the new one separated the earlier texts as the old one did, value by value. */
  readonly divided: readonly { readonly from: string; readonly to: string }[];
};

/**
 * The keys by which a client can join the texts of one stream.
 *
 * A column has a number for each of its values, in the order in which they came. Columns that gave the same numbers to
 * every text so far join texts in the same way and are one key. A column with one value only separates nothing and is no
 * key, so that an ordinary stream has one or two keys, of seventeen columns.
 */
export class JoinKeys {
  /** By column, the numbers of its values. */
  readonly #numbers = new Map<string, Map<string, number>>();
  /** The first two have the columns without a second value so far: places and messages. */
  readonly #groups: Group[] = [
    { prefix: "p", columns: new Set() },
    { prefix: "m", columns: new Set() },
  ];

  /** @param columns the same names for each text of the stream */
  next(columns: readonly Column[]): TextKeys {
    const numbers = new Map<string, number>();
    const absent = new Set<string>();
    for (const { name, value, isMessage } of columns) {
      let known = this.#numbers.get(name);
      if (known === undefined) {
        known = new Map();
        this.#numbers.set(name, known);
        this.#groups[isMessage ? 1 : 0]?.columns.add(name);
      }
      if (!known.has(value)) known.set(value, known.size);
      numbers.set(name, known.get(value) ?? 0);
      if (value === ABSENT) absent.add(name);
    }
    const divided = this.#divide(numbers);
    const keys: string[] = [];
    const messages: string[] = [];
    for (const [at, { columns: own, prefix }] of this.#groups.entries()) {
      const [first] = own;
      if (at < FIRST_KEY || first === undefined) continue;
      const key = `${prefix}${at}=${numbers.get(first) ?? 0}`;
      keys.push(key);
      if (prefix === "m" && ![...own].some((name) => absent.has(name))) messages.push(key);
    }
    return { keys, messages, divided };
  }

  #divide(numbers: ReadonlyMap<string, number>): { from: string; to: string }[] {
    const divided: { from: string; to: string }[] = [];
    const before = this.#groups.length;
    for (let at = 0; at < before; at += 1) {
      const group = this.#groups[at];
      if (group === undefined) continue;
      const [first = ""] = group.columns;
      // A column of the first two that gets a second value is a key from here on, whatever the others do.
      const stays = at < FIRST_KEY ? 0 : numbers.get(first);
      const parts = new Map<number | undefined, Group>();
      for (const name of group.columns) {
        const number = numbers.get(name);
        if (number === stays) continue;
        let part = parts.get(number);
        if (part === undefined) {
          part = { prefix: group.prefix, columns: new Set() };
          parts.set(number, part);
          divided.push({
            from: at < FIRST_KEY ? "" : `${group.prefix}${at}`,
            to: `${group.prefix}${this.#groups.length}`,
          });
          this.#groups.push(part);
        }
        group.columns.delete(name);
        part.columns.add(name);
      }
    }
    return divided;
  }
}

const FIRST_KEY = 2;
const ABSENT = "null";

/** Other members of a payload by which a client can choose a place for the text. */
const KINDS: readonly string[] = ["role", "format", "language", "model"];

/** The columns of a text: by what a client can choose the text that it appends this one to. */
export function columnsOf(
  envelope: JsonObject,
  payload: JsonValue | undefined,
  member: string,
): Column[] {
  const target = memberOf(envelope, "target");
  const columns: Column[] = [
    place("component_type", memberOf(target, "component_type")),
    place("component_id", memberOf(target, "component_id")),
    place("agent_id", memberOf(envelope, "agent_id")),
    place("session_id", memberOf(envelope, "session_id")),
    place("member", member),
    ...KINDS.map((name) => place(name, memberOf(payload, name))),
  ];
  for (const names of RUN_IDS) columns.push(...idsOf(payload, names, false));
  columns.push(...idsOf(payload, MESSAGE_IDS, true));
  return columns;
}

function place(name: string, value: JsonValue | undefined): Column {
  return { name, value: JSON.stringify(value ?? null), isMessage: false };
}

/** Spellings of one id: a client reads one of them, or the first that it finds. */
function idsOf(
  payload: JsonValue | undefined,
  names: readonly string[],
  isMessage: boolean,
): Column[] {
  const values = names.map((name) => memberOf(payload, name) ?? null);
  const any = values.find((value) => value !== null) ?? null;
  return [...names, `any ${names[0] ?? ""}`].map((name, at) => ({
    name,
    value: JSON.stringify(values[at] === undefined ? any : values[at]),
    isMessage,
  }));
}
