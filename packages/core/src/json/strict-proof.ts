import { isSafeNumber } from "./number.js";

/** Objects with more keys than this use a Set instead of pairwise comparison. */
const PAIRWISE_KEYS = 24;

/** Literals up to this length without an exponent are below 10^15, and therefore safe. */
const SHORT_LITERAL = 15;

/** Key positions of the open objects, innermost last: at most PAIRWISE_KEYS per level. */
const starts: number[] = [];
const ends: number[] = [];
const bases: number[] = [];

/**
 * Remaining character comparisons. Keys of equal length with long common prefixes would make the
 * pairwise comparison cost eleven times the text; then the reporting parser, which hashes, is
 * cheaper.
 */
let budget = 0;

/**
 * Proves that a text contains nothing the strict parser would reject, provided that it is
 * well-formed UTF-16 and that `JSON.parse` accepts it too. It runs before `JSON.parse`, so that ten
 * million opening brackets never become ten million arrays. For text that is not JSON the result is
 * meaningless.
 *
 * `false` means "not proven", never "rejected": the reporting parser then decides. One pass over
 * the structure; strings are skipped with the engine's own search, and keys are compared in place,
 * so small objects allocate nothing.
 */
export function isProvablyStrict(text: string, maxDepth: number, maxValues: number): boolean {
  const length = text.length;
  budget = 64 + (length >> 1);
  // Searched again only after it was passed: searching for each string would be quadratic.
  let escape = nextEscape(text, 0);
  let depth = 0;
  // The number of values is at most commas plus opening brackets plus one.
  let values = 1;
  let keys = 0;
  let base = 0;
  let inObject = false;
  let keyNext = false;
  let set: Set<string> | undefined;
  let sets: Map<number, Set<string>> | undefined;
  for (let at = 0; at < length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        let end = text.indexOf('"', at + 1);
        if (escape < end) {
          // An escaped key may be another encoding of an earlier key.
          if (keyNext) return false;
          do {
            const next = afterEscape(text, escape);
            if (next < 0) return false;
            if (end < next) end = text.indexOf('"', next);
            escape = nextEscape(text, next);
          } while (escape < end);
        }
        if (end < 0) return false;
        if (keyNext) {
          keyNext = false;
          if (keys - base < PAIRWISE_KEYS) {
            if (repeats(text, at + 1, end, base, keys)) return false;
            starts[keys] = at + 1;
            ends[keys] = end;
            keys++;
          } else {
            if (set === undefined) {
              set = new Set();
              for (let key = base; key < keys; key++) set.add(text.slice(starts[key], ends[key]));
              sets ??= new Map();
              sets.set(depth, set);
            }
            const size = set.size;
            if (set.add(text.slice(at + 1, end)).size === size) return false;
          }
        }
        at = end;
        break;
      }
      case 0x7b:
      case 0x5b:
        if (depth === maxDepth || ++values > maxValues) return false;
        // The lowest bit of the base records whether the outer container is an object.
        bases[depth++] = base * 2 + (inObject ? 1 : 0);
        base = keys;
        inObject = text.charCodeAt(at) === 0x7b;
        keyNext = inObject;
        set = undefined;
        break;
      case 0x7d:
      case 0x5d: {
        if (depth === 0) return false;
        if (sets !== undefined) sets.delete(depth);
        const outer = bases[--depth] ?? 0;
        keys = base;
        base = outer >> 1;
        inObject = (outer & 1) === 1;
        keyNext = false;
        set = sets?.get(depth);
        break;
      }
      case 0x2c:
        if (++values > maxValues) return false;
        keyNext = inObject;
        break;
      case 0x2d:
      case 0x30:
      case 0x31:
      case 0x32:
      case 0x33:
      case 0x34:
      case 0x35:
      case 0x36:
      case 0x37:
      case 0x38:
      case 0x39: {
        const end = numberEnd(text, at, length);
        if (end < 0) return false;
        at = end - 1;
        break;
      }
      default:
    }
  }
  return true;
}

/** The end of a number literal, or -1 when it is not safe. */
function numberEnd(text: string, start: number, length: number): number {
  let end = start + 1;
  let exponent = false;
  while (end < length) {
    const unit = text.charCodeAt(end);
    if (unit === 0x65 || unit === 0x45) exponent = true;
    else if (unit > 0x39 || unit < 0x2b || unit === 0x2c) break;
    end++;
  }
  if (exponent || end - start > SHORT_LITERAL) {
    const literal = text.slice(start, end);
    if (!isSafeNumber(literal, Number(literal))) return -1;
  }
  return end;
}

function nextEscape(text: string, from: number): number {
  const at = text.indexOf("\\", from);
  return at < 0 ? Infinity : at;
}

/** The position after an escape, or -1 for half of a surrogate pair. */
function afterEscape(text: string, escape: number): number {
  if (text.charCodeAt(escape + 1) !== 0x75) return escape + 2;
  // Of all \u escapes only D8…DF are surrogates, so one character decides nearly every case.
  if ((text.charCodeAt(escape + 2) | 32) !== 0x64) return escape + 6;
  const first = Number.parseInt(text.slice(escape + 2, escape + 6), 16);
  if (first < 0xd800) return escape + 6;
  if (first >= 0xdc00 || !text.startsWith("\\u", escape + 6)) return -1;
  const second = Number.parseInt(text.slice(escape + 8, escape + 12), 16);
  return second >= 0xdc00 && second < 0xe000 ? escape + 12 : -1;
}

/** Whether a key equals, or may equal, an earlier key of the object. */
function repeats(text: string, start: number, end: number, from: number, to: number): boolean {
  const length = end - start;
  for (let key = from; key < to; key++) {
    const other = starts[key] ?? 0;
    if ((ends[key] ?? 0) - other !== length) continue;
    let index = 0;
    while (index < length && text.charCodeAt(start + index) === text.charCodeAt(other + index)) {
      index++;
    }
    budget -= index;
    if (index === length || budget < 0) return true;
  }
  return false;
}
