import type { Encoding } from "./rules.js";

/** A decoded text, with the source position of each character. */
export type DecodedText = {
  readonly encoding: Encoding;
  readonly text: string;
  readonly placeOf: (offset: number) => number;
};

/** Shorter runs are too short for a secret and occur everywhere in ordinary text. */
const SHORTEST_RUN = 8;

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** Every decoding of a text: escapes removed, and runs of base64 or hex digits decoded. */
export function* decodings(text: string): Iterable<DecodedText> {
  if (text.includes("\\")) yield unescapeJson(text);
  if (text.includes("%")) yield unescapePercent(text);
  for (const run of text.matchAll(/[A-Za-z0-9+/_-]{8,}/g)) yield* base64Readings(run[0], run.index);
  for (const run of text.matchAll(/[0-9A-Fa-f]{8,}/g)) yield* hexReadings(run[0], run.index);
}

const JSON_ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

function unescapeJson(text: string): DecodedText {
  return replaced(
    "json",
    text,
    /\\(?:u\{?([0-9a-fA-F]{4,6})\}?|x([0-9a-fA-F]{2})|(.))/gs,
    (match) => {
      const code = match[1] ?? match[2];
      if (code !== undefined) return characters(Number.parseInt(code, 16));
      const letter = match[3] ?? "";
      return JSON_ESCAPES[letter] ?? letter;
    },
  );
}

function characters(code: number): string {
  return code > 0x10_ffff ? "\uFFFD" : String.fromCodePoint(code);
}

function unescapePercent(text: string): DecodedText {
  return replaced("percent", text, /(?:%[0-9a-fA-F]{2})+/g, (match) => {
    const digits = match[0].replaceAll("%", "");
    return lenient.decode(hexBytes(digits));
  });
}

/** A run may start with letters of the text before it, so every alignment is decoded. */
function* base64Readings(run: string, start: number): Iterable<DecodedText> {
  for (let shift = 0; shift < 4 && run.length - shift >= SHORTEST_RUN; shift++) {
    const bytes = base64Bytes(run, shift);
    const text = utf8(bytes);
    const place = start + shift;
    yield { encoding: "base64", text, placeOf: (offset) => place + Math.floor((offset * 4) / 3) };
  }
}

function* hexReadings(run: string, start: number): Iterable<DecodedText> {
  for (let shift = 0; shift < 2 && run.length - shift >= SHORTEST_RUN; shift++) {
    const text = utf8(hexBytes(run.slice(shift)));
    const place = start + shift;
    yield { encoding: "hex", text, placeOf: (offset) => place + offset * 2 };
  }
}

function replaced(
  encoding: Encoding,
  text: string,
  pattern: RegExp,
  replace: (match: RegExpExecArray | RegExpMatchArray) => string,
): DecodedText {
  let result = "";
  let position = 0;
  // Corresponding offsets: [offset in the result, offset in the source].
  const marks: [number, number][] = [[0, 0]];
  for (const match of text.matchAll(pattern)) {
    result += text.slice(position, match.index);
    marks.push([result.length, match.index]);
    result += replace(match);
    position = match.index + match[0].length;
    marks.push([result.length, position]);
  }
  result += text.slice(position);
  return { encoding, text: result, placeOf: (offset) => placeIn(marks, offset) };
}

function placeIn(marks: readonly [number, number][], offset: number): number {
  let low = 0;
  let high = marks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((marks[middle]?.[0] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  const [from, place] = marks[low] ?? [0, 0];
  return place + (offset - from);
}

function hexBytes(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length >> 1);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(digits.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}

const DIGITS = new Uint8Array(128);
for (const [value, digit] of [
  ..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
].entries()) {
  DIGITS[digit.charCodeAt(0)] = value;
}
DIGITS["-".charCodeAt(0)] = 62;
DIGITS["_".charCodeAt(0)] = 63;

/** Both alphabets, without padding: the input may be part of a longer encoding. */
function base64Bytes(run: string, shift: number): Uint8Array {
  const bytes = new Uint8Array(Math.floor(((run.length - shift) * 3) / 4));
  let bits = 0;
  let count = 0;
  let position = 0;
  for (let index = shift; index < run.length; index++) {
    bits = ((bits << 6) | (DIGITS[run.charCodeAt(index)] ?? 0)) & 0xff_ffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[position++] = (bits >> count) & 0xff;
    }
  }
  return bytes;
}

/** Most runs are short, and a call of the decoder costs more than this loop. */
function utf8(bytes: Uint8Array): string {
  if (bytes.length > 64) return lenient.decode(bytes);
  let text = "";
  for (const byte of bytes) {
    if (byte >= 0x80) return lenient.decode(bytes);
    text += String.fromCharCode(byte);
  }
  return text;
}
