import { copyOf } from "./copy-of.js";
import { parseJson } from "./parse.js";
import type { JsonLimits } from "./parse.js";
import type { JsonObject, JsonValue } from "./value.js";
import { isVerbatim } from "./verbatim.js";

/** Longer texts are rare, and a delta of that length costs more than its parsing anyway. */
const LONGEST = 4096;

/** Parses texts one after the other. */
export interface JsonSequence {
  /**
   * Like `parseJson`: the same value, or the same error.
   *
   * @throws CountersignError one of the `ERR_JSON_…` codes; the next text is unaffected
   */
  parse(text: string): JsonValue;
}

/**
 * Creates a strict parser for texts that resemble each other, as the deltas of one message do: a
 * flat object whose last member is a string, identical except for that string.
 *
 * A text is valid when it starts like the last such one, up to inside that string, and continues
 * with verbatim characters and the closing `"}`. So only the new characters are checked. Every
 * other text goes to {@link parseJson}; two similar texts in a row are needed before one is
 * remembered. The returned objects share only keys and immutable values.
 *
 * @throws TypeError when a limit is not a positive integer
 */
export function createJsonSequence(limits?: Partial<JsonLimits>): JsonSequence {
  parseJson("0", limits);
  return new Sequence(limits);
}

class Sequence implements JsonSequence {
  readonly #limits: Partial<JsonLimits> | undefined;
  readonly #longest: number;
  /** The text up to the value of the last member, including its opening quote; empty for none. */
  #prefix = "";
  #object: JsonObject = {};
  #key = "";
  /** The fingerprint of the last fully parsed text: learning costs as much as parsing. */
  #mark = -1;

  constructor(limits: Partial<JsonLimits> | undefined) {
    this.#limits = limits;
    // A UTF-16 code unit takes at most three bytes.
    this.#longest = Math.min(LONGEST, Math.floor((limits?.maxBytes ?? LONGEST * 3) / 3));
  }

  parse(text: string): JsonValue {
    const from = this.#prefix.length;
    const end = text.length - 2;
    if (
      from > 0 &&
      end >= from &&
      text.length <= this.#longest &&
      text.charCodeAt(end) === 0x22 &&
      text.charCodeAt(end + 1) === 0x7d &&
      // Six times as fast as `startsWith`, which compares unit by unit.
      text.slice(0, from) === this.#prefix
    ) {
      const said = copyOf(text.slice(from, end));
      if (isVerbatim(said)) {
        const object = { ...this.#object };
        object[this.#key] = said;
        return object;
      }
    }
    const value = parseJson(text, this.#limits);
    const mark = markOf(text);
    if (mark === this.#mark && text.length <= this.#longest) this.#learn(text, value);
    this.#mark = mark;
    return value;
  }

  /** Remembers a text that later ones may resemble. */
  #learn(text: string, value: JsonValue): void {
    const end = text.length - 2;
    if (text.charCodeAt(end) !== 0x22 || text.charCodeAt(end + 1) !== 0x7d) return;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    let key = "";
    for (const name in value) {
      if (typeof value[name] === "object" && value[name] !== null) return;
      key = name;
    }
    const last = value[key];
    if (typeof last !== "string" || key === "__proto__" || !isVerbatim(key)) return;
    // This member must be last in the text, without escapes: keys like "7" come first in an object
    // in any text order, and an escape or a space would move the value.
    const from = end - last.length;
    const tail = `"${key}":"`;
    const start = from - tail.length;
    const before = text.charCodeAt(start - 1);
    if (before !== 0x2c && before !== 0x7b) return;
    if (!text.startsWith(tail, start) || !text.startsWith(last, from)) return;
    if (!isVerbatim(last)) return;
    this.#prefix = copyOf(text.slice(0, from));
    // The caller may change the returned value.
    this.#object = { ...value };
    this.#key = key;
  }
}

/** A few characters near the start: equal in texts of one kind. */
function markOf(text: string): number {
  return text.charCodeAt(14) ^ (text.charCodeAt(19) << 8) ^ (text.charCodeAt(22) << 16);
}
