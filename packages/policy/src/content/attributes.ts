/** The effect of an attribute with a value. */
export type AttributeKind =
  /** Runs, loads or sends something, whatever its value. */
  | "active"
  /** Its value is an address that is loaded or followed. */
  | "address"
  /** Its value is CSS. */
  | "style"
  /** Changes the appearance of the element: harmful with text in it. */
  | "appearance"
  /** Does nothing. */
  | "inert";

const ACTIVE: ReadonlySet<string> = new Set(
  (
    "action attributionsrc background dynsrc formaction http-equiv imagesrcset lowsrc manifest ping poster " +
    "shadowrootmode srcdoc srcset _"
  ).split(" "),
);
const ADDRESSES: ReadonlySet<string> = new Set(["src", "href", "xlink:href"]);
const INERT: ReadonlySet<string> = new Set(
  (
    "abbr align alt charset colspan datetime dir height hreflang key lang media rel reversed rowspan scope span start " +
    "target title valign width"
  ).split(" "),
);
/** Event handlers. Names with other characters, such as `on:click`, are not handlers. */
const HANDLER = /^on[a-z]+$/;
/** Attributes that libraries run when an element appears: Alpine, htmx, unpoly. */
const LIBRARY = /^(?:x-|hx-|data-hx-|up-|@|wire:|ng-|data-ng-)/;

/** Longer names are unknown here. */
export const LONGEST_ATTRIBUTE = 24;

/** The effect of an attribute of this name, in lower case. */
export function kindOfAttribute(name: string): AttributeKind {
  if (INERT.has(name)) return "inert";
  if (ADDRESSES.has(name)) return "address";
  if (name === "style") return "style";
  return ACTIVE.has(name) || HANDLER.test(name) || LIBRARY.test(name) ? "active" : "appearance";
}

/** Elements that load or replace something as soon as they have any attribute with a value. */
export const LOADING_ELEMENTS: ReadonlySet<string> = new Set(
  "applet base embed frame frameset iframe object portal".split(" "),
);
/** Elements that load, run or ask for something once they have an attribute with a value. */
export const ACTIVE_ELEMENTS: ReadonlySet<string> = new Set(
  (
    "a applet area audio base body button details embed form frame frameset head html iframe image img input link map " +
    "math meta object picture portal script select source style svg template textarea track video"
  ).split(" "),
);
/**
 * Shows its text in the other direction, with `dir` or inside text of that direction: `moc.live`
 * reads `evil.com`.
 */
export const OVERRIDE_ELEMENT = "bdo";
/** Elements whose text runs or applies. */
export const TEXT_ELEMENTS: ReadonlySet<string> = new Set(["script", "style"]);
/** Elements with other names and attributes. */
export const FOREIGN_ELEMENTS: ReadonlySet<string> = new Set(["svg", "math"]);
/** Elements that a click follows. */
export const LINK_ELEMENTS: ReadonlySet<string> = new Set(["a", "area"]);
/** Elements in which marked does not escape text, including the start of a tag. */
export const UNESCAPED_ELEMENTS: ReadonlySet<string> = new Set(["pre", "code", "kbd", "script"]);
