import { Composer, Lexer, LineCounter, Parser } from "yaml";
import type { CST, Document } from "yaml";
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

type Token = CST.Token;

/** A bound that a text goes over, and where. */
type Excess = {
  readonly message: string;
  readonly offset: number;
  readonly limit: keyof OatfLimits;
};

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
  const refused = ({ message, offset, limit: name }: Excess): Composed => ({
    errors: [{ kind: "syntax", message, ...place(offset), limit: { name, allowed: limits[name] } }],
  });
  const tokens = readTokens(text, lines, limits);
  if (!Array.isArray(tokens)) return refused(tokens);
  const documents = composeTokens(tokens, text.length);
  if (documents === undefined) return refused(tooDeep(limits, 0));
  const faults = faultsOf(documents, limits);
  const [document] = documents;
  if (document !== undefined && faults.length === 0) return { document, place };
  return {
    errors: faults.map(({ message, offset }) => ({ kind: "syntax", message, ...place(offset) })),
  };
}

/** The tokens of a text, or the first bound that it goes over. */
function readTokens(text: string, lines: LineCounter, limits: OatfLimits): Token[] | Excess {
  lines.addNewLine(0);
  if (text.length > limits.maxTextLength) {
    const message = `the document is longer than ${limits.maxTextLength} characters`;
    return { message, offset: 0, limit: "maxTextLength" };
  }
  const parser = new Parser(lines.addNewLine);
  const tokens: Token[] = [];
  let count = 0;
  let offset = 0;
  let depth = 0;
  let literal = false;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > limits.maxNodes * TOKENS_PER_NODE) {
      return { message: "too many values", offset, limit: "maxNodes" };
    }
    if (!literal && (lexeme === "[" || lexeme === "{")) depth += 1;
    else if (!literal && (lexeme === "]" || lexeme === "}")) depth -= 1;
    // The stack of the parser holds one entry for each open collection, the document and the scalar.
    if (depth > limits.maxDepth || parser.stack.length > limits.maxDepth + 4) {
      return tooDeep(limits, offset);
    }
    literal = lexeme === SCALAR_FOLLOWS;
    offset += lexeme.length;
    for (const token of parser.next(lexeme)) tokens.push(token);
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function tooDeep(limits: OatfLimits, offset: number): Excess {
  return { message: `nested deeper than ${limits.maxDepth}`, offset, limit: "maxDepth" };
}

/** The documents of a text; undefined where the composer has used up the stack. */
function composeTokens(tokens: readonly Token[], length: number): Document.Parsed[] | undefined {
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    merge: false,
    uniqueKeys: false,
    strict: true,
    stringKeys: true,
  });
  try {
    return [...composer.compose(tokens, true, length)] as Document.Parsed[];
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The reasons why a text is not one valid document. */
function faultsOf(
  [document, second]: readonly Document.Parsed[],
  limits: OatfLimits,
): { readonly message: string; readonly offset: number }[] {
  if (document === undefined) return [{ message: "the document is empty", offset: 0 }];
  if (second !== undefined) {
    return [{ message: "one text holds one document", offset: second.range?.[0] ?? 0 }];
  }
  const { errors, directives } = document;
  if (errors.length > 0) {
    return errors
      .slice(0, limits.maxErrors)
      .map(({ message, pos }) => ({ message: message.slice(0, 200), offset: pos[0] }));
  }
  const isOther = directives.yaml.explicit === true && directives.yaml.version !== "1.2";
  return isOther ? [{ message: "a document is YAML 1.2", offset: 0 }] : [];
}
