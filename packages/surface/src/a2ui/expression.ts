import type { JsonObject, JsonValue } from "@countersign/core";

/** A text of `formatString`: literal pieces, data paths and function calls. */
export type ExpressionPart = JsonValue;
type MayRead = (characters: number) => boolean;

const MAX_NESTING = 100;
const NUMBER = /^\d+\.?\d*$/;
const DIGITS = /[\d.]+/y;
const PATH = /[\w/.-]+/y;
const NAME = /\w+/y;
const SPACES = /\s+/y;
/** Text up to a brace or a quote; text up to a quote or an escape. */
const PLAIN = /[^'"{}]+/y;
const UNQUOTED = /[^'"\\]+/y;

/** The text is not an expression: renderers show nothing in its place. */
export class ExpressionError extends Error {}

/**
 * Parses the value of `formatString` as the official renderer does: literal text, `${/path}`,
 * `${function(name: argument)}`, quoted strings, numbers, and `\${` for a literal `${`.
 *
 * @param mayRead whether so many more characters may be read; a nested expression is read at each level
 * @throws ExpressionError when renderers reject it, or when it takes too long
 */
export function parseFormatString(text: string, mayRead: MayRead): ExpressionPart[] {
  if (!mayRead(text.length)) throw new ExpressionError("too many characters");
  if (!text.includes("${")) return text === "" ? [] : [text];
  const parts: ExpressionPart[] = [];
  const scanner = new Scanner(text, mayRead);
  while (!scanner.isAtEnd) {
    if (scanner.skip("${")) parts.push(parseExpression(scanner.interpolation(), 1, mayRead));
    else if (scanner.skip("\\${")) parts.push("${");
    else parts.push(scanner.literal());
  }
  return parts.filter((part) => part !== "");
}

function parseExpression(text: string, depth: number, mayRead: MayRead): ExpressionPart {
  const trimmed = text.trim();
  if (trimmed === "") return "";
  const scanner = new Scanner(trimmed, mayRead);
  const part = parseValue(scanner, depth);
  if (!scanner.isAtEnd) throw new ExpressionError("characters after an expression");
  return part;
}

function parseValue(scanner: Scanner, depth: number): ExpressionPart {
  if (depth > MAX_NESTING) throw new ExpressionError("expressions nested too deep");
  scanner.skipSpace();
  if (scanner.isAtEnd) return "";
  if (scanner.skip("${"))
    return parseExpression(scanner.interpolation(), depth + 1, scanner.mayRead);
  const next = scanner.peek;
  if (next === "'" || next === '"') return scanner.quoted();
  if (next >= "0" && next <= "9") {
    const digits = scanner.take(DIGITS);
    if (!NUMBER.test(digits)) throw new ExpressionError("a number that is none");
    return Number(digits);
  }
  if (scanner.keyword("true")) return true;
  if (scanner.keyword("false")) return false;
  if (scanner.keyword("null")) return "";
  const token = scanner.take(PATH);
  scanner.skipSpace();
  if (scanner.peek !== "(") return token === "" ? "" : { path: token };
  return { call: token, args: parseArguments(scanner, depth), returnType: "any" };
}

function parseArguments(scanner: Scanner, depth: number): JsonObject {
  const args: [string, JsonValue][] = [];
  scanner.skip("(");
  scanner.skipSpace();
  while (!scanner.isAtEnd && scanner.peek !== ")") {
    const name = scanner.take(NAME);
    scanner.skipSpace();
    if (!scanner.skip(":")) throw new ExpressionError("an argument without a colon");
    scanner.skipSpace();
    args.push([name, parseValue(scanner, depth + 1)]);
    scanner.skipSpace();
    if (scanner.skip(",")) scanner.skipSpace();
  }
  if (!scanner.skip(")")) throw new ExpressionError("arguments without an end");
  return Object.fromEntries(args);
}

class Scanner {
  readonly mayRead: MayRead;
  readonly #text: string;
  #at = 0;

  constructor(text: string, mayRead: MayRead) {
    this.#text = text;
    this.mayRead = mayRead;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The next UTF-16 unit; NUL at the end, as no pattern has it. */
  get peek(): string {
    return this.#text[this.#at] ?? "\0";
  }

  skip(expected: string): boolean {
    const is = this.#text.startsWith(expected, this.#at);
    if (is) this.#at += expected.length;
    return is;
  }

  keyword(word: string): boolean {
    const after = this.#text[this.#at + word.length] ?? "\0";
    return !/\w/.test(after) && this.skip(word);
  }

  skipSpace(): void {
    this.take(SPACES);
  }

  /** The characters that a sticky pattern matches here. */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken] = pattern.exec(this.#text) ?? [""];
    this.#at += taken.length;
    return taken;
  }

  literal(): string {
    const start = this.#at;
    let end = this.#text.indexOf("${", start);
    if (end === -1) end = this.#text.length;
    else if (this.#text[end - 1] === "\\" && end - 1 >= start) end -= 1;
    this.#at = end;
    return this.#text.slice(start, end);
  }

  /** The text up to the brace that closes an interpolation; quoted braces do not count. */
  interpolation(): string {
    const start = this.#at;
    for (let open = 1; !this.isAtEnd;) {
      this.take(PLAIN);
      const character = this.peek;
      if (character === "'" || character === '"') {
        this.quoted();
        continue;
      }
      this.#at += 1;
      if (character === "{") open += 1;
      else if (character === "}") open -= 1;
      if (open > 0) continue;
      if (!this.mayRead(this.#at - start)) throw new ExpressionError("too many characters");
      return this.#text.slice(start, this.#at - 1);
    }
    throw new ExpressionError("an interpolation without an end");
  }

  quoted(): string {
    const quote = this.peek;
    this.#at += 1;
    let text = "";
    for (; !this.isAtEnd; this.#at += 1) {
      text += this.take(UNQUOTED);
      if (this.isAtEnd) break;
      const character = this.peek;
      if (character === quote) {
        this.#at += 1;
        break;
      }
      if (character !== "\\") {
        text += character;
        continue;
      }
      this.#at += 1;
      const escaped = this.#text[this.#at] ?? "";
      text += ESCAPES[escaped] ?? escaped;
    }
    return text;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
