import { Marked } from "marked";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";

const DANGEROUS = { allowDangerousHtml: true, allowDangerousProtocol: true } as const;
const EXTENSIONS = [gfm()];
const marked = new Marked({ gfm: true, async: false });

/** Renderers that chats use, told to let HTML through. */
export const RENDERERS: ReadonlyMap<string, (text: string) => string> = new Map([
  ["CommonMark", (text: string) => micromark(text, DANGEROUS)],
  [
    "GFM",
    (text: string) =>
      micromark(text, {
        ...DANGEROUS,
        extensions: EXTENSIONS,
        htmlExtensions: [gfmHtml()],
      }),
  ],
  ["marked", (text: string) => String(marked.parse(text))],
]);
