/**
 * Invisible characters in a row that are still taken for writing. The longest sequence in use is a flag of
 * six tag characters; a hidden sentence has one per letter or more.
 */
const LONGEST_INVISIBLE_RUN = 7;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** The high surrogate of U+E0000 to U+E03FF: tags and variation selectors. */
const TAGS = 0xdb40;

/** Finds characters that no person sees: controls, reversed text, and sentences in invisible characters. */
export class HiddenText {
  #run = 0;
  #before = 0;

  /** Whether hidden text is certain with this code unit. */
  feed(code: number): boolean {
    const before = this.#before;
    this.#before = code;
    if (code < 0x20) {
      this.#run = 0;
      return code !== TAB && code !== LINE_FEED && code !== CARRIAGE_RETURN;
    }
    if (code < 0x7f) {
      this.#run = 0;
      return false;
    }
    if (code < 0xa0) return true;
    // Overrides, which turn letters around. Embeddings and isolates stay: texts of two scripts are full of them.
    if (code === 0x202d || code === 0x202e) return true;
    // Counted with its second half.
    if (code === TAGS) return false;
    this.#run = isInvisible(code, before) ? this.#run + 1 : 0;
    return this.#run > LONGEST_INVISIBLE_RUN;
  }
}

function isInvisible(code: number, before: number): boolean {
  if (code === 0xad || code === 0x34f || code === 0xfeff) return true;
  if (code >= 0xfe00 && code <= 0xfe0f) return true;
  if (code >= 0x200b && code <= 0x200f) return true;
  if (code >= 0x2060 && code <= 0x206f) return true;
  if (code >= 0x180b && code <= 0x180f) return true;
  // U+E0000 to U+E01EF.
  return before === TAGS && code >= 0xdc00 && code <= 0xddef;
}

/** Whether a whole text holds a sentence in invisible characters; what people paste may hold controls. */
export function hasInvisibleSentence(text: string): boolean {
  let run = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === TAGS) continue;
    run = code >= 0xa0 && isInvisible(code, at === 0 ? 0 : text.charCodeAt(at - 1)) ? run + 1 : 0;
    if (run > LONGEST_INVISIBLE_RUN) return true;
  }
  return false;
}
