import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { Tokenizer, TokenizerMode } from "parse5";
import type { Token, TokenHandler } from "parse5";
import type { HtmlFacts, SurfaceInput, SurfaceUrl, UrlUse } from "../base/facts.js";

/** The parts of an HTML document that an agent sends. */
export interface HtmlParts {
  readonly html: string;
  readonly css: string;
  readonly jsFunctions: string;
  readonly jsExpressions: readonly string[];
  readonly isComplete: boolean;
}

/** The texts, URLs and inputs of an HTML document. */
export interface HtmlReading {
  readonly facts: HtmlFacts;
  readonly urls: readonly SurfaceUrl[];
  readonly inputs: readonly SurfaceInput[];
  readonly texts: readonly string[];
  /** More URLs or inputs than are listed. */
  readonly isOverLimit: boolean;
}

/** Attributes with an address, by `element attribute` or attribute alone. */
const ADDRESSES: ReadonlyMap<string, UrlUse> = new Map<string, UrlUse>([
  ["a href", "link"],
  ["area href", "link"],
  ["link href", "style"],
  ["base href", "load"],
  ["form action", "submit"],
  ["button formaction", "submit"],
  ["input formaction", "submit"],
  ["script src", "script"],
  ["iframe src", "frame"],
  ["iframe srcdoc", "frame"],
  ["frame src", "frame"],
  ["embed src", "frame"],
  ["object data", "frame"],
  ["img src", "image"],
  ["image href", "image"],
  ["video src", "video"],
  ["video poster", "image"],
  ["audio src", "audio"],
  ["src", "load"],
  ["href", "load"],
  ["xlink:href", "load"],
  ["srcset", "load"],
  ["imagesrcset", "load"],
  ["background", "image"],
  ["poster", "image"],
  ["data", "load"],
  ["ping", "load"],
  ["manifest", "load"],
]);
const INPUTS: ReadonlySet<string> = new Set(["input", "textarea", "select"]);
const HINTS = ["placeholder", "aria-label", "autocomplete", "title", "value"];
const SPOKEN: ReadonlySet<string> = new Set(["alt", "title", "aria-label", "placeholder", "label"]);
/** How a tokenizer reads the content of elements that are not markup. */
const CONTENTS: Readonly<Record<string, number>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  textarea: TokenizerMode.RCDATA,
  title: TokenizerMode.RCDATA,
  plaintext: TokenizerMode.PLAINTEXT,
};
const CSS_ADDRESS = /(?:url\(\s*|@import\s+)["']?([^"')\s;]+)/gi;
const SCRIPT_ADDRESS = /(?:https?:|wss?:)?\/\/[^\s"'`<>\\)]+/gi;
/** More of one kind are counted, not listed. */
const MAX_LISTED = 1_000;

/**
 * Reads HTML by the tokens of the HTML standard, without a tree: its size is bounded by the text, and
 * no nesting of elements is expensive. Scripts can do anything else, so the reading is no promise.
 */
export function readHtml(parts: HtmlParts): HtmlReading {
  const reader = new HtmlReader();
  reader.markup(parts.html);
  reader.style(parts.css, "/css");
  reader.script(parts.jsFunctions, "/jsFunctions");
  for (const [index, expression] of parts.jsExpressions.entries()) {
    reader.script(expression, `/jsExpressions/${index}`);
  }
  const { html, css, jsFunctions, jsExpressions, isComplete } = parts;
  const form: JsonValue = { html, css, jsFunctions, jsExpressions: [...jsExpressions] };
  const scriptBytes = jsFunctions.length + jsExpressions.join("").length + reader.scriptLength;
  return {
    facts: {
      bytes: html.length,
      styleBytes: css.length + reader.styleLength,
      scriptBytes,
      hash: sha256Hex(canonicalJson(form)),
      isComplete,
      forms: reader.forms,
      scripts: reader.scripts + (jsFunctions === "" ? 0 : 1) + jsExpressions.length,
      frames: reader.frames,
    },
    urls: reader.urls,
    inputs: reader.inputs,
    texts: reader.texts,
    isOverLimit: reader.urls.length >= MAX_LISTED || reader.inputs.length >= MAX_LISTED,
  };
}

class HtmlReader implements TokenHandler {
  readonly urls: SurfaceUrl[] = [];
  readonly inputs: SurfaceInput[] = [];
  readonly texts: string[] = [];
  forms = 0;
  scripts = 0;
  frames = 0;
  scriptLength = 0;
  styleLength = 0;
  #tokenizer: Tokenizer | undefined;
  #content = "";
  #text = "";
  #label = "";

  markup(html: string): void {
    const tokenizer = new Tokenizer({ sourceCodeLocationInfo: false }, this);
    this.#tokenizer = tokenizer;
    tokenizer.write(html, true);
    this.#endText();
  }

  style(css: string, path: string): void {
    for (const [, address = ""] of css.matchAll(CSS_ADDRESS)) this.#url(address, "load", path);
  }

  script(code: string, path: string): void {
    for (const [address] of code.matchAll(SCRIPT_ADDRESS)) this.#url(address, "load", path);
  }

  onStartTag(token: Token.TagToken): void {
    this.#endText();
    const { tagName } = token;
    const attributes = new Map(token.attrs.map(({ name, value }) => [name, value]));
    if (tagName === "form") this.forms += 1;
    if (tagName === "script") this.scripts += 1;
    if (tagName === "iframe" || tagName === "frame" || tagName === "embed" || tagName === "object")
      this.frames += 1;
    for (const [name, value] of attributes) this.#attribute(tagName, name, value);
    if (tagName === "meta" && /refresh/i.test(attributes.get("http-equiv") ?? "")) {
      this.#url(
        /url\s*=\s*["']?([^"']*)/i.exec(attributes.get("content") ?? "")?.[1] ?? "",
        "open",
        "/meta",
      );
    }
    if (INPUTS.has(tagName)) this.#input(tagName, attributes);
    const content = Object.hasOwn(CONTENTS, tagName) ? CONTENTS[tagName] : undefined;
    if (content === undefined || this.#tokenizer === undefined) return;
    this.#tokenizer.state = content as never;
    this.#tokenizer.lastStartTagName = tagName;
    this.#content = tagName;
  }

  onEndTag(): void {
    this.#endText();
    this.#content = "";
  }

  onCharacter({ chars }: Token.CharacterToken): void {
    this.#text += chars;
  }

  onWhitespaceCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token);
  }

  onNullCharacter(): void {}
  onComment(): void {}
  onDoctype(): void {}
  onEof(): void {}

  #attribute(tagName: string, name: string, value: string): void {
    const use = ADDRESSES.get(`${tagName} ${name}`) ?? ADDRESSES.get(name);
    if (use !== undefined) {
      if (/^[\s\p{C}]*javascript:/iu.test(value)) this.scripts += 1;
      const isList = name === "srcset" || name === "imagesrcset" || name === "ping";
      for (const one of isList
        ? value.split(/[\s,]+/).filter((part) => part.includes("/"))
        : [value]) {
        this.#url(one, use, `/${tagName}/${name}`);
      }
    }
    if (name.startsWith("on")) {
      this.scripts += 1;
      this.scriptLength += value.length;
      this.script(value, `/${tagName}/${name}`);
    }
    if (name === "style") this.style(value, `/${tagName}/style`);
    if (SPOKEN.has(name)) this.#note(value);
  }

  #input(tagName: string, attributes: ReadonlyMap<string, string>): void {
    const type = tagName === "input" ? (attributes.get("type") ?? "text").toLowerCase() : tagName;
    if (type === "submit" || type === "button" || type === "hidden" || type === "reset") return;
    if (this.inputs.length >= MAX_LISTED) return;
    const hints = HINTS.flatMap((name) => attributes.get(name) ?? []);
    this.inputs.push({
      // The text before a control is what a person reads as its label.
      label: attributes.get("aria-label") ?? this.#label,
      id: attributes.get("name") ?? attributes.get("id") ?? "",
      boundPath: undefined,
      type,
      isSecret: type === "password" || /password/i.test(attributes.get("autocomplete") ?? ""),
      hints,
    });
  }

  #endText(): void {
    const text = this.#text;
    this.#text = "";
    if (this.#content === "script") {
      this.scriptLength += text.length;
      this.script(text, "/script");
    } else if (this.#content === "style") {
      this.styleLength += text.length;
      this.style(text, "/style");
    } else this.#note(text);
  }

  #note(text: string): void {
    const shown = text.trim();
    if (shown === "") return;
    this.#label = shown;
    // Beyond the limit the texts still are in the last one, so that each is scanned.
    if (this.texts.length < MAX_LISTED) this.texts.push(shown);
    else this.texts[MAX_LISTED - 1] += ` ${shown}`;
  }

  #url(value: string, use: UrlUse, path: string): void {
    if (value.trim() === "" || this.urls.length >= MAX_LISTED) return;
    this.urls.push({ value, use, path, dataPaths: [], isExact: true });
  }
}
