/**
 * Consecutive invisible characters that are still ordinary writing. The longest sequence in use is
 * a flag of six tag characters; a hidden sentence has one per letter or more.
 */
const LONGEST_INVISIBLE_RUN = 7;
/** Invisible characters outside of any script's use, in one message: pasted text has a few. */
const MOST_STRAY = 16;
/** The same for all texts of a request, which may contain a long history, and for the values of one event. */
const MOST_STRAY_TOGETHER = 4 * MOST_STRAY;
/**
 * Invisible characters within a script's use (joiners, soft hyphens): this many, and one for every
 * three visible ones.
 */
const MOST_SINGLE = 16;
const SEEN_PER_SINGLE = 3;

/**
 * Blank Braille patterns: this many, as at the left of a picture, and this many for each visible
 * pattern.
 */
const MOST_BLANKS = 48;
const BLANKS_PER_PATTERN = 8;
const BLANK_PATTERN = 0x2800;
const LAST_PATTERN = 0x28ff;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const JOINER = 0x200d;
const TEXT_STYLE = 0xfe0e;
const EMOJI_STYLE = 0xfe0f;
const BLACK_FLAG = 0x1f3f4;
const FIRST_TAG = 0xe0000;
const LAST_TAG = 0xe007f;
/** Flags of tag characters that are in use: England, Scotland and Wales. */
const FLAGS: ReadonlySet<string> = new Set(["gbeng", "gbsct", "gbwls"]);
const FLAG_LENGTH = 5;

/** Finds invisible characters: controls, reversed text, and sentences in invisible characters. */
export class HiddenText {
  readonly #invisible = new InvisibleText();

  /** Whether hidden text is certain with this code unit at this offset of the message. */
  feed(code: number, at: number): boolean {
    if (code < 0x20 && code !== TAB && code !== LINE_FEED && code !== CARRIAGE_RETURN) return true;
    if (code >= 0x7f && code < 0xa0) return true;
    // Overrides, which reverse letters. Embeddings and isolates count by their share: texts of two
    // scripts have them.
    if (code === 0x202d || code === 0x202e) return true;
    return this.#invisible.feed(code, at);
  }
}

/**
 * Counts invisible characters of a text: consecutive ones, and all of them, so that a sentence in
 * small portions is found too.
 *
 * Characters that scripts and emoji need are ignored, or count by their share of the text. These
 * are a joiner or a variation selector after an emoji, one joiner, mark or soft hyphen between
 * letters, and the tags of a flag.
 */
class InvisibleText {
  #high = 0;
  #before = 0;
  #run = 0;
  #stray = 0;
  #single = 0;
  /** Excess of blank Braille patterns over the visible ones, once this is above zero. */
  #blanks = -MOST_BLANKS;
  /** Code units so far that do not belong to a visible character. */
  #unseen = 0;
  /** The letters of the open flag. */
  #flag: string | undefined;

  /** Invisible characters so far outside of any script's use. */
  get stray(): number {
    return this.#stray;
  }

  /** Whether there are too many with this code unit at this offset of the text. */
  feed(code: number, at: number): boolean {
    if ((code & 0xfc00) === 0xd800) {
      this.#high = code;
      return false;
    }
    const isLow = (code & 0xfc00) === 0xdc00;
    const point = isLow ? 0x10000 + ((this.#high & 0x3ff) << 10) + (code & 0x3ff) : code;
    if (point >= BLANK_PATTERN && point <= LAST_PATTERN) {
      this.#blanks += point === BLANK_PATTERN ? 1 : -BLANKS_PER_PATTERN;
    }
    if (isInvisible(point)) {
      this.#count(point);
      this.#run += 1;
      this.#unseen += isLow ? 2 : 1;
    } else {
      this.#run = 0;
      if (isLow) this.#unseen += 1;
    }
    if (point < FIRST_TAG || point > LAST_TAG) this.#flag = point === BLACK_FLAG ? "" : undefined;
    this.#before = point;
    return (
      this.#run > LONGEST_INVISIBLE_RUN ||
      this.#stray > MOST_STRAY ||
      this.#blanks > 0 ||
      this.#single > MOST_SINGLE + (at - this.#unseen) / SEEN_PER_SINGLE
    );
  }

  #count(point: number): void {
    if (point >= FIRST_TAG && point <= LAST_TAG) {
      this.#stray += 1;
      this.#addToFlag(point);
      return;
    }
    const isFirst = this.#run === 0;
    const isBehindSymbol = isFirst && this.#before >= 0x2000;
    const isStyle = point === TEXT_STYLE || point === EMOJI_STYLE;
    if ((isStyle || point === JOINER) && isBehindSymbol) return;
    if (point === JOINER && this.#before === EMOJI_STYLE && this.#run === 1) return;
    const isWriting =
      isVariation(point) && !isStyle
        ? isFirst && isForm(point) && isIdeographOrSign(this.#before)
        : (isFirst && !isRetired(point) && isOfScript(point, this.#before)) || isDirection(point);
    if (isWriting) this.#single += 1;
    else this.#stray += 1;
  }

  #addToFlag(point: number): void {
    if (this.#flag === undefined) return;
    if (point === LAST_TAG) {
      if (FLAGS.has(this.#flag)) this.#stray -= FLAG_LENGTH + 1;
      this.#flag = undefined;
    } else if (this.#flag.length < FLAG_LENGTH) {
      this.#flag += String.fromCharCode(point - FIRST_TAG);
    } else this.#flag = undefined;
  }
}

/**
 * Characters that show nothing by themselves: default ignorable characters of Unicode, format
 * characters, blanks.
 */
export function isInvisible(point: number): boolean {
  if (point < 0x2000) {
    if (point === 0xad || point === 0x34f || point === 0x61c) return true;
    if (point === 0x115f || point === 0x1160 || point === 0x17b4 || point === 0x17b5) return true;
    return point >= 0x180b && point <= 0x180f;
  }
  if (point >= 0x200b && point <= 0x200f) return true;
  if (point >= 0x2028 && point <= 0x202e) return true;
  if (point >= 0x2060 && point <= 0x206f) return true;
  if (point >= 0xfe00 && point <= 0xfe0f) return true;
  if (point === 0x3164 || point === 0xfeff || point === 0xffa0) return true;
  if (point >= 0xfff0 && point <= 0xfffb) return true;
  if (point >= 0x13430 && point <= 0x1345f) return true;
  if (point === 0x2d7f || point === 0x16fe4 || point === 0x1d159) return true;
  if ((point >= 0x1bca0 && point <= 0x1bca3) || (point >= 0x1d173 && point <= 0x1d17a)) return true;
  return point >= 0xe0000 && point <= 0xe0fff;
}

function isVariation(point: number): boolean {
  return (point >= 0xfe00 && point <= 0xfe0f) || (point >= 0xe0100 && point <= 0xe01ef);
}

/** One of the first variations: no character has many. */
function isForm(point: number): boolean {
  return (point & 0xff) < 0x10;
}

function isIdeographOrSign(point: number): boolean {
  if (point < 0x10000) return point >= 0x2000 && (point < 0xd800 || point >= 0xf900);
  return point >= 0x20000 && point < 0x40000;
}

/** Marks, embeddings and isolates, which occur where two scripts meet, and ends of lines. */
function isDirection(point: number): boolean {
  return (
    point === 0x200e ||
    point === 0x200f ||
    point === 0x61c ||
    (point >= 0x2028 && point <= 0x202e) ||
    (point >= 0x2066 && point <= 0x2069)
  );
}

/** Whether a character of a single script is inside that script; others may be anywhere. */
function isOfScript(point: number, before: number): boolean {
  if (point === 0x2d7f) return before >= 0x2d30 && before <= 0x2d7f;
  if (point === 0x16fe4) return before >= 0x18b00 && before <= 0x18cff;
  if (point >= 0x13430 && point <= 0x1345f) return before >= 0x13000 && before <= 0x1345f;
  return true;
}

/** Deprecated or unassigned characters. */
function isRetired(point: number): boolean {
  return (
    (point >= 0x206a && point <= 0x206f) ||
    (point >= 0xfff0 && point <= 0xfffb) ||
    point === 0x1d159 ||
    point >= 0xe0000
  );
}

/**
 * Finds sentences in invisible characters in the texts of a request or in the values of an event;
 * pasted text may contain controls.
 */
export class InvisibleSentences {
  #stray = 0;

  /** Whether this text contains one, or the texts so far do. */
  isIn(text: string): boolean {
    const invisible = new InvisibleText();
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (invisible.feed(code, at)) return true;
    }
    this.#stray += invisible.stray;
    return this.#stray > MOST_STRAY_TOGETHER;
  }
}
