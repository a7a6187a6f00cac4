import { isCountersignError } from "@countersign/core";

/** One parser of outside bytes and the property that every input must keep. */
export type FuzzTarget = {
  readonly name: string;
  /** The property, as one sentence. */
  readonly property: string;
  /** The parsers under test, as `path#export` relative to the root of the repository. */
  readonly covers: readonly string[];
  /** Words of the format: a mutation inserts them whole. */
  readonly dictionary?: readonly string[];
  /** Inputs for the first round, beside the files in `fuzz/seeds/NAME`. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Longest input that a mutation makes; 2,048 bytes by default. */
  readonly maxBytes?: number;
  /** Runs one input; throws when the property does not hold. */
  run(input: Uint8Array): void | Promise<void>;
};

/** The result of a parser: a value, or the code of its error. */
export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly code: string };

/** The longest error message a peer's input may cause. */
const MAX_MESSAGE_LENGTH = 4096;

function outcomeOf(error: unknown): { readonly ok: false; readonly code: string } {
  if (!isCountersignError(error)) throw error;
  if (error.message.length > MAX_MESSAGE_LENGTH) {
    throw new Error(`${error.code}: the message has ${error.message.length} characters`);
  }
  return { ok: false, code: error.code };
}

/** Runs a parser; every error but a coded one escapes and is a finding. */
export function attempt<Value>(parse: () => Value): Outcome<Value> {
  try {
    return { ok: true, value: parse() };
  } catch (error) {
    return outcomeOf(error);
  }
}

/** As `attempt`, for a parser that awaits. */
export async function attemptAsync<Value>(parse: () => Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { ok: true, value: await parse() };
  } catch (error) {
    return outcomeOf(error);
  }
}

/** Fails the input when a property does not hold. */
export function hold(condition: boolean, property: string): asserts condition {
  if (!condition) throw new Error(`property violated: ${property}`);
}

/** Fails the input when a refusal is no sentence: the engine ran out of stack or memory, or no error was thrown. */
export function holdRefusal(error: unknown): void {
  hold(error instanceof Error, "a refusal is an error");
  hold(!/call stack|Invalid (?:array|string) length/u.test(error.message), "the stack suffices");
  hold(error.message.length <= MAX_MESSAGE_LENGTH, "a refusal is a sentence");
}

/** Fails the input when two values differ as JSON. */
export function holdEqual(actual: unknown, expected: unknown, property: string): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  hold(left === right, `${property}: ${left?.slice(0, 300)} is not ${right?.slice(0, 300)}`);
}

/** The input as text; bytes that are not UTF-8 become U+FFFD. */
export function textOf(input: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(input);
}

/** Cuts bytes at places that the bytes choose, so that a replay cuts at the same places. */
export function cut(input: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let state = input.length + 1;
  for (let start = 0; start < input.length;) {
    state = (Math.imul(state, 1_103_515_245) + (input[start] ?? 0) + 12_345) >>> 0;
    const end = Math.min(input.length, start + 1 + ((state >>> 16) % 7));
    parts.push(input.subarray(start, end));
    start = end;
  }
  return parts;
}
