import { isAlphanumeric } from "./characters.js";

const BACKSLASH = 0x5c;
const AMPERSAND = 0x26;
const PARENTHESIS = 0x28;
const LONGEST_NAME = 24;

/** CSS functions that load nothing. */
const QUIET: ReadonlySet<string> = new Set(
  (
    "attr blur brightness calc circle clamp color color-mix conic-gradient contrast cubic-bezier drop-shadow ellipse " +
    "fit-content grayscale hsl hsla hue-rotate hwb inset invert lab lch light-dark linear-gradient matrix max min minmax " +
    "oklab oklch opacity perspective polygon radial-gradient rect repeat repeating-linear-gradient rgb rgba rotate " +
    "rotatex rotatey rotatez round saturate scale scalex scaley sepia skew skewx skewy steps translate translate3d " +
    "translatex translatey translatez"
  ).split(" "),
);

/** Searches CSS in an attribute for functions that load something, and for obfuscated ones. */
export class StyleValue {
  #name = "";

  /** Whether the CSS may load something, as of this character. */
  feed(code: number): boolean {
    if (code === BACKSLASH || code === AMPERSAND) return true;
    if (code === PARENTHESIS) {
      const name = this.#name;
      this.#name = "";
      return name !== "" && !QUIET.has(name);
    }
    if (isAlphanumeric(code) || code === 0x2d || code === 0x5f || code > 0x7f) {
      if (this.#name.length <= LONGEST_NAME) this.#name += String.fromCharCode(code).toLowerCase();
    } else this.#name = "";
    return false;
  }
}
