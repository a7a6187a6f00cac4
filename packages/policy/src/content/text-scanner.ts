import { Addresses } from "./addresses.js";
import { UserBeforeHost } from "./authority.js";
import { CodeBlocks } from "./code-blocks.js";
import type { ContentKind } from "./finding.js";
import { HiddenText } from "./hidden-text.js";
import { Markup } from "./markup.js";
import type { ContentSettings } from "./settings.js";
import { Words } from "./words.js";

/**
 * Reads one message as it grows, so that nothing passes because it was cut in two.
 *
 * One pass with a state of fixed size: the work is the same however the text is cut, and no text makes it slow.
 */
export class TextScanner {
  readonly #maxCharacters: number;
  readonly #code = new CodeBlocks();
  readonly #hidden: HiddenText | undefined;
  readonly #markup: Markup | undefined;
  readonly #user: UserBeforeHost | undefined;
  readonly #addresses: Addresses | undefined;
  readonly #words: Words | undefined;
  #characters = 0;

  constructor(settings: ContentSettings) {
    this.#maxCharacters = settings.maxCharacters;
    if (settings.hidden) this.#hidden = new HiddenText();
    if (settings.markup) this.#markup = new Markup();
    if (settings.links) this.#user = new UserBeforeHost();
    if (settings.words.length > 0) this.#words = new Words(settings.words);
    if (settings.links || settings.images) this.#addresses = new Addresses(settings);
  }

  /** Takes the next piece of the message; the first thing that is found in it. */
  push(text: string): ContentKind | undefined {
    this.#characters += text.length;
    let found: ContentKind | undefined;
    if (this.#characters > this.#maxCharacters) found = "max_characters";
    if (this.#words?.push(text) === true) found ??= "words";
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#hidden?.feed(code) === true) found ??= "hidden";
      // Nothing in a code block is a link, an image or an element, and samples of code look like all three.
      if (this.#code.feed(code)) {
        this.#markup?.skipCode();
        continue;
      }
      if (this.#markup?.feed(code) === true) found ??= "markup";
      if (this.#user?.feed(code) === true) found ??= "links";
      const address = this.#addresses?.feed(code);
      if (address !== undefined) found ??= address;
    }
    return found;
  }
}
