import { Composer, Lexer, LineCounter, Parser } from "yaml";
import type { Document } from "yaml";
import type { OatfLimits } from "../limits.js";
import type { ParseError } from "../parse/parse-error.js";
import type { Position } from "./source.js";

/** The tree of one YAML document, or what is wrong with its syntax. */
export type Composed =
  | {
      readonly document: Document.Parsed;
      readonly errors?: never;
      place(offset: number): Position;
    }
  | { readonly document?: never; readonly errors: readonly ParseError[] };

/** Tokens a value takes at most in ordinary text: indent, key, colon, space, value, line break, and room. */
const TOKENS_PER_NODE = 8;
const SCALAR_FOLLOWS = "\u001F";

/**
 * Composes the tree of a text that may be hostile.
 *
 * The parser takes about 20 µs for each token and the composer recurses, so tokens and nesting are counted
 * while the lexer runs: a bomb is refused before it is built. The key check of the library compares every
 * pair of keys; ours is in `read.ts`.
 */
export function composeYaml(text: string, limits: OatfLimits): Composed {
  const lines = new LineCounter();
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const fail = (message: string, offset: number, limit?: [string, number]): Composed => ({
    errors: [
      {
        kind: "syntax",
        message,
        ...place(offset),
        ...(limit === undefined ? {} : { limit: { name: limit[0], allowed: limit[1] } }),
      },
    ],
  });
  const tooDeep = (offset: number): Composed =>
    fail(`nested deeper than ${limits.maxDepth}`, offset, ["maxDepth", limits.maxDepth]);

  if (text.length > limits.maxTextLength) {
    const message = `the document is longer than ${limits.maxTextLength} characters`;
    return fail(message, 0, ["maxTextLength", limits.maxTextLength]);
  }
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens = [];
  let count = 0;
  let offset = 0;
  let depth = 0;
  let literal = false;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > limits.maxNodes * TOKENS_PER_NODE) {
      return fail("too many values", offset, ["maxNodes", limits.maxNodes]);
    }
    if (!literal && (lexeme === "[" || lexeme === "{")) depth += 1;
    else if (!literal && (lexeme === "]" || lexeme === "}")) depth -= 1;
    // The stack of the parser holds one entry for each open collection, the document and the scalar.
    if (depth > limits.maxDepth || parser.stack.length > limits.maxDepth + 4)
      return tooDeep(offset);
    literal = lexeme === SCALAR_FOLLOWS;
    offset += lexeme.length;
    for (const token of parser.next(lexeme)) tokens.push(token);
  }
  for (const token of parser.end()) tokens.push(token);

  const documents: Document.Parsed[] = [];
  try {
    const composer = new Composer({
      version: "1.2",
      schema: "core",
      merge: false,
      uniqueKeys: false,
      strict: true,
      stringKeys: true,
    });
    for (const document of composer.compose(tokens, true, text.length)) {
      documents.push(document as Document.Parsed);
    }
  } catch (error) {
    if (error instanceof RangeError) return tooDeep(0);
    throw error;
  }
  const [document, second] = documents;
  if (document === undefined) return fail("the document is empty", 0);
  if (second !== undefined) {
    return fail("one text holds one document", second.range?.[0] ?? 0);
  }
  if (document.errors.length > 0) {
    return {
      errors: document.errors.slice(0, limits.maxErrors).map(({ message, pos }) => ({
        kind: "syntax",
        message: message.slice(0, 200),
        ...place(pos[0]),
      })),
    };
  }
  if (document.directives.yaml.explicit === true && document.directives.yaml.version !== "1.2") {
    return fail("a document is YAML 1.2", 0);
  }
  return { document, place };
}
