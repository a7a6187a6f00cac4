import { CountersignError } from "../errors/error.js";
import { copyOf } from "./copy-of.js";
import { isSafeNumber } from "./number.js";
import { setMember } from "./object.js";
import { utf8Length } from "./utf8.js";
import type { JsonObject, JsonValue } from "./value.js";

/** The codes whose only fact is the offset. */
type OffsetCode =
  | "ERR_JSON_SYNTAX"
  | "ERR_JSON_BOM"
  | "ERR_JSON_LONE_SURROGATE"
  | "ERR_JSON_DUPLICATE_KEY"
  | "ERR_JSON_UNSAFE_NUMBER";

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const HEX4 = /[0-9a-fA-F]{4}/y;
/** The escape letters, and at the same index the character of each. */
const ESCAPES = '"\\/bfnrt';
const ESCAPED = '"\\/\b\f\n\r\t';

/**
 * The slow path: our own parser (RFC 8259, I-JSON strictness of RFC 7493), which reports positions.
 *
 * It decides what is rejected; the fast path may only accept what this accepts, with an equal
 * value. It runs when the fast path cannot decide, so its cost is a constant factor, not a risk.
 */
export function parseReporting(text: string, maxDepth: number, maxValues: number): JsonValue {
  return new ReportingParser(text, maxDepth, maxValues).document();
}

class ReportingParser {
  readonly #text: string;
  readonly #maxDepth: number;
  readonly #maxValues: number;
  #values = 0;
  #at = 0;
  #depth = 0;

  constructor(text: string, maxDepth: number, maxValues: number) {
    this.#text = text;
    this.#maxDepth = maxDepth;
    this.#maxValues = maxValues;
  }

  document(): JsonValue {
    if (this.#text.startsWith("\ufeff")) throw this.#refusal("ERR_JSON_BOM", 0);
    this.#space();
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) throw this.#refusal("ERR_JSON_SYNTAX", this.#at);
    return value;
  }

  #value(): JsonValue {
    if (++this.#values > this.#maxValues) {
      throw new CountersignError("ERR_JSON_TOO_MANY", `more than ${this.#maxValues} values`, {
        allowed: this.#maxValues,
        offset: utf8Length(this.#text, this.#at),
      });
    }
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object();
      case "[":
        return this.#array();
      case '"':
        return this.#string();
      case "t":
        return this.#word("true", true);
      case "f":
        return this.#word("false", false);
      case "n":
        return this.#word("null", null);
      default:
        return this.#number();
    }
  }

  #object(): JsonObject {
    this.#enter();
    const object: JsonObject = {};
    this.#space();
    if (this.#take("}")) return this.#leave(object);
    do {
      this.#space();
      const start = this.#at;
      if (this.#text[start] !== '"') throw this.#refusal("ERR_JSON_SYNTAX", start);
      const key = this.#string();
      if (Object.hasOwn(object, key)) throw this.#refusal("ERR_JSON_DUPLICATE_KEY", start);
      this.#space();
      this.#expect(":");
      this.#space();
      setMember(object, key, this.#value());
      this.#space();
    } while (this.#take(","));
    this.#expect("}");
    return this.#leave(object);
  }

  #array(): JsonValue[] {
    this.#enter();
    const items: JsonValue[] = [];
    this.#space();
    if (this.#take("]")) return this.#leave(items);
    do {
      this.#space();
      items.push(this.#value());
      this.#space();
    } while (this.#take(","));
    this.#expect("]");
    return this.#leave(items);
  }

  #string(): string {
    const text = this.#text;
    let value = "";
    let at = this.#at + 1;
    let from = at;
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit === 0x22) break;
      if (Number.isNaN(unit) || unit < 0x20) throw this.#refusal("ERR_JSON_SYNTAX", at);
      if (unit === 0x5c) {
        value += text.slice(from, at);
        this.#at = at;
        value += this.#escape();
        at = this.#at;
        from = at;
      } else if (isSurrogate(unit)) {
        if (!isPair(unit, text.charCodeAt(at + 1))) {
          throw this.#refusal("ERR_JSON_LONE_SURROGATE", at);
        }
        at += 2;
      } else at++;
    }
    this.#at = at + 1;
    return copyOf(value + text.slice(from, at));
  }

  #escape(): string {
    const start = this.#at;
    const letter = this.#text.charAt(start + 1);
    if (letter !== "u") {
      const place = letter === "" ? -1 : ESCAPES.indexOf(letter);
      if (place < 0) throw this.#refusal("ERR_JSON_SYNTAX", start);
      this.#at = start + 2;
      return ESCAPED.charAt(place);
    }
    const first = this.#hex(start);
    this.#at = start + 6;
    if (!isSurrogate(first)) return String.fromCharCode(first);
    // Both halves of a pair must have the same form: an escaped half next to a raw half cannot be
    // encoded in UTF-8, so no well-formed peer sends it.
    if (!this.#text.startsWith("\\u", this.#at)) {
      throw this.#refusal("ERR_JSON_LONE_SURROGATE", start);
    }
    const second = this.#hex(this.#at);
    if (!isPair(first, second)) throw this.#refusal("ERR_JSON_LONE_SURROGATE", start);
    this.#at += 6;
    return String.fromCharCode(first, second);
  }

  #hex(escape: number): number {
    HEX4.lastIndex = escape + 2;
    const match = HEX4.exec(this.#text);
    if (match === null) throw this.#refusal("ERR_JSON_SYNTAX", escape);
    return Number.parseInt(match[0], 16);
  }

  #number(): number {
    NUMBER.lastIndex = this.#at;
    const literal = NUMBER.exec(this.#text)?.[0];
    if (literal === undefined) throw this.#refusal("ERR_JSON_SYNTAX", this.#at);
    const value = Number(literal);
    if (!isSafeNumber(literal, value)) throw this.#refusal("ERR_JSON_UNSAFE_NUMBER", this.#at);
    this.#at += literal.length;
    return value;
  }

  #word<T extends JsonValue>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#refusal("ERR_JSON_SYNTAX", this.#at);
    this.#at += word.length;
    return value;
  }

  #enter(): void {
    if (++this.#depth > this.#maxDepth) {
      throw new CountersignError("ERR_JSON_TOO_DEEP", `nested deeper than ${this.#maxDepth}`, {
        allowed: this.#maxDepth,
        offset: utf8Length(this.#text, this.#at),
      });
    }
    this.#at++;
  }

  #leave<T>(value: T): T {
    this.#depth--;
    return value;
  }

  #space(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at++;
    }
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    if (!this.#take(character)) throw this.#refusal("ERR_JSON_SYNTAX", this.#at);
  }

  #refusal(code: OffsetCode, at: number): CountersignError {
    const offset = utf8Length(this.#text, at);
    return new CountersignError(code, `${MESSAGES[code]} at byte ${offset}`, { offset });
  }
}

const MESSAGES: Readonly<Record<OffsetCode, string>> = {
  ERR_JSON_SYNTAX: "not JSON",
  ERR_JSON_BOM: "byte order mark",
  ERR_JSON_LONE_SURROGATE: "half of a surrogate pair",
  ERR_JSON_DUPLICATE_KEY: "key named twice",
  ERR_JSON_UNSAFE_NUMBER: "number a double cannot carry",
};

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xe000;
}

function isPair(high: number, low: number): boolean {
  return high < 0xdc00 && low >= 0xdc00 && low < 0xe000;
}
