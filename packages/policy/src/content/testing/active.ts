import { parseUrl } from "@countersign/core";
import { parseFragment } from "parse5";
import type { DefaultTreeAdapterTypes } from "parse5";

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

const PAGE = "https://page.example/chat/";
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp)[;,]/i;
/** Schemes that run code, read files or start a program of the user. */
const RUNS =
  /^(?:javascript|vbscript|livescript|data|file|blob|filesystem|view-source|jar|intent|vscode|search|search-ms|ms-[a-z-]+):/i;
/** Schemes from which a browser loads an image. */
const LOADED = /^(?:https?|ftp|file|blob|filesystem|data):$/;
const LOADING = new Set("applet base embed frame frameset iframe object portal".split(" "));
/** Attributes without effect in HTML. */
const QUIET = new Set(
  "abbr align alt charset colspan datetime dir height hreflang key lang media rel reversed rowspan scope span start target title valign width".split(
    " ",
  ),
);
const RISKY = new Set(
  "srcset imagesrcset srcdoc action formaction background poster ping http-equiv shadowrootmode attributionsrc".split(
    " ",
  ),
);

/**
 * The effect of a browser for HTML that a renderer made of a text: why it is active, or
 * `undefined`. Written independently of the scanner, over the tree that a browser builds.
 */
export function whyActive(html: string, imageHost?: string): string | undefined {
  if (!/=|<(?:script|style|dialog|bdo)|popover/i.test(html)) return undefined;
  // The page continues after it.
  for (const page of [html, `${html}</div><p class="x">`]) {
    const place: Place = { isForeign: false, isPage: page !== html, imageHost };
    const why = search(parseFragment(page).childNodes, place);
    if (why !== undefined) return why;
  }
  return undefined;
}

type Place = {
  /** In a drawing or a formula. */
  readonly isForeign: boolean;
  /** The page continues after the text. */
  readonly isPage: boolean;
  /** A host from which images may come. */
  readonly imageHost: string | undefined;
};

function search(nodes: readonly Node[], place: Place): string | undefined {
  for (const node of nodes) {
    if (!("tagName" in node)) continue;
    const isForeign = place.isForeign || node.tagName === "svg" || node.tagName === "math";
    const why =
      ofElement(node, place) ??
      search("content" in node ? node.content.childNodes : node.childNodes, {
        ...place,
        isForeign,
      });
    if (why !== undefined) return why;
  }
  return undefined;
}

function ofElement(element: Element, { isForeign, isPage, imageHost }: Place): string | undefined {
  const { tagName } = element;
  if (tagName === "script" || tagName === "style") {
    if (!isPage && holdsText(element)) return `${tagName} with text`;
  }
  if (tagName === "bdo" && !isPage && holdsText(element)) return "reversed text";
  for (const { name, value } of element.attrs) {
    // Renderers write these themselves.
    if (isOwn(tagName, name, value)) continue;
    if ((/^on[a-z]+$/.test(name) || RISKY.has(name)) && value !== "") return `${tagName} ${name}`;
    if (LOADING.has(tagName) && value !== "") return `${tagName} ${name}`;
    if (isForeign && value !== "" && !(tagName === "a" && name === "href"))
      return `${name} in a drawing`;
    if (
      name === "style" &&
      /(?:url|image|image-set|src|cross-fade|expression|element)\s*\(|\\/i.test(value)
    )
      return "style that loads";
    if (name === "src" || name === "href" || name === "xlink:href") {
      const why = ofAddress(tagName, name, value, imageHost);
      if (why !== undefined) return why;
    } else if (!isPage && !QUIET.has(name) && (value !== "" || tagName === "dialog")) {
      if (tagName !== "script" && tagName !== "style" && /^[a-z_:][\w.:-]*$/.test(name)) {
        if (holdsText(element)) return `${tagName} ${name} with text`;
      }
    }
  }
  return undefined;
}

function isOwn(tagName: string, name: string, value: string): boolean {
  if (tagName === "code" && name === "class") return true;
  if (/^(?:ul|ol)$/.test(tagName) && name === "class") return value === "contains-task-list";
  if (/^t[hd]$/.test(tagName) && name === "style") return /^text-align:\s?[a-z]+$/.test(value);
  if (tagName === "input") return name === "type" || name === "disabled" || name === "checked";
  return (
    /^(?:data-footnote|aria-|id$|class$)/.test(name) && /^(?:a|section|h2|li|sup|p)$/.test(tagName)
  );
}

function ofAddress(
  tagName: string,
  name: string,
  value: string,
  imageHost: string | undefined,
): string | undefined {
  const url = parseUrl(value, PAGE);
  if (url === undefined || isEmpty(url) || PICTURE.test(url.href)) return undefined;
  if ((tagName === "a" || tagName === "area") && name !== "src") {
    if (RUNS.test(url.protocol)) return "link that runs";
    return /^(?:https?|ftp):$/.test(url.protocol) && url.username !== ""
      ? "link with a user"
      : undefined;
  }
  if (tagName === "script") return "script src";
  if (name !== "src" && !/^(?:link|image|use|feimage|base)$/i.test(tagName)) return undefined;
  // An address that is still growing belongs to the host that it starts.
  const isHost = tagName === "img" && imageHost?.startsWith(url.host) === true && url.host !== "";
  const isKnown = url.host === "page.example" || isHost || !LOADED.test(url.protocol);
  return isKnown ? undefined : `${tagName} of another host`;
}

/** A scheme without a following character opens nothing. */
function isEmpty({ protocol, href }: URL): boolean {
  return protocol === "data:" ? !href.includes(",") : /^[a-z-]+:\/*$/.test(href);
}

/**
 * Text beside the tags with which a renderer closes what it opened, and beside an incomplete tag without attributes.
 */
function holdsText(element: Element): boolean {
  const text = textOf(element).replace(/<\/?[a-z][a-z0-9]*(?: [^<>]*)?>/g, "");
  return text.replace(/(?:<|&lt;)[^<>]{0,20}$/, "").trim() !== "";
}

function textOf(node: Node): string {
  if (node.nodeName === "#text" && "value" in node) return node.value;
  if ("content" in node) return node.content.childNodes.map(textOf).join("");
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
}
