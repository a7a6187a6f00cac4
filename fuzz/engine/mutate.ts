import type { Random } from "./random.js";

/** Bytes that decide something in most formats: terminators, quotes, escapes, length bytes, broken UTF-8. */
const TELLING_BYTES = [...'\0\t\n\r "#%&*,-./:;<=>?@[\\]{}~'].map((one) => one.charCodeAt(0));
TELLING_BYTES.push(0x7f, 0x80, 0xc0, 0xe2, 0xed, 0xf4, 0xfe, 0xff);
/** Words that decide something in every format that is text. */
const TELLING_WORDS = [
  "null",
  "true",
  "0",
  "-1",
  "9007199254740993",
  "1e400",
  "__proto__",
  "constructor",
  "\\u0000",
  "\\ud800",
  "\uFEFF",
  "\u2028",
  "\u202E",
  "{}",
  "[]",
  '""',
  "\r\n\r\n",
].map((word) => new TextEncoder().encode(word));

type Mutation = (input: Uint8Array, random: Random, pool: MutationPool) => Uint8Array;

/** What mutations take from. */
export type MutationPool = {
  readonly corpus: readonly Uint8Array[];
  readonly words: readonly Uint8Array[];
};

function replaceRange(input: Uint8Array, start: number, end: number, by: Uint8Array): Uint8Array {
  const changed = new Uint8Array(input.length - (end - start) + by.length);
  changed.set(input.subarray(0, start));
  changed.set(by, start);
  changed.set(input.subarray(end), start + by.length);
  return changed;
}

function range(input: Uint8Array, random: Random): [number, number] {
  const start = random.below(input.length + 1);
  const longest = random.below(4) === 0 ? input.length : 16;
  return [start, Math.min(input.length, start + random.below(longest + 1))];
}

const flipBit: Mutation = (input, random) => {
  if (input.length === 0) return input;
  const changed = input.slice();
  const at = random.below(input.length);
  changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
  return changed;
};

const setByte: Mutation = (input, random) => {
  const byte = TELLING_BYTES[random.below(TELLING_BYTES.length)] ?? 0;
  const at = random.below(input.length + 1);
  const end = random.below(2) === 0 ? at : Math.min(at + 1, input.length);
  return replaceRange(input, at, end, Uint8Array.of(byte));
};

const remove: Mutation = (input, random) =>
  replaceRange(input, ...range(input, random), new Uint8Array());

const repeat: Mutation = (input, random) => {
  const [start, end] = range(input, random);
  const piece = input.subarray(start, end);
  const times = 1 + random.below(random.below(8) === 0 ? 64 : 3);
  const copies = new Uint8Array(piece.length * times);
  for (let index = 0; index < times; index++) copies.set(piece, index * piece.length);
  return replaceRange(input, end, end, copies);
};

const move: Mutation = (input, random) => {
  const [start, end] = range(input, random);
  const piece = input.slice(start, end);
  const rest = replaceRange(input, start, end, new Uint8Array());
  const at = random.below(rest.length + 1);
  return replaceRange(rest, at, at, piece);
};

const insertWord: Mutation = (input, random, { words }) => {
  const own = words.length > 0 && random.below(3) > 0;
  const list = own ? words : TELLING_WORDS;
  const [start, end] = range(input, random);
  const by = list[random.below(list.length)] ?? new Uint8Array();
  return replaceRange(input, start, random.below(2) === 0 ? start : end, by);
};

const splice: Mutation = (input, random, { corpus }) => {
  const other = corpus[random.below(corpus.length)] ?? input;
  const [from, to] = range(other, random);
  return replaceRange(input, ...range(input, random), other.subarray(from, to));
};

const changeNumber: Mutation = (input, random) => {
  const digits = [...input.keys()].filter((at) => isDigit(input[at]));
  const at = digits[random.below(digits.length)];
  if (at === undefined) return input;
  let end = at;
  while (end < input.length && isDigit(input[end])) end++;
  const values = ["0", "1", "-1", "255", "256", "65536", "4294967296", "9007199254740992", "1e9"];
  const by = new TextEncoder().encode(values[random.below(values.length)]);
  return replaceRange(input, at, end, by);
};

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

const MUTATIONS: readonly Mutation[] = [
  flipBit,
  setByte,
  remove,
  repeat,
  move,
  insertWord,
  insertWord,
  splice,
  splice,
  changeNumber,
];

/** Changes an input in one to eight places, and cuts it to what the target takes. */
export function mutate(
  input: Uint8Array,
  random: Random,
  pool: MutationPool,
  maxBytes: number,
): Uint8Array {
  let changed = input;
  for (let count = 1 + random.below(1 + random.below(8)); count > 0; count--) {
    changed = MUTATIONS[random.below(MUTATIONS.length)]?.(changed, random, pool) ?? changed;
    if (changed.length > maxBytes) changed = changed.subarray(0, maxBytes);
  }
  return changed;
}
