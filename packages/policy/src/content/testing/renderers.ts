import MarkdownIt from "markdown-it";
import { Marked } from "marked";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import rehypeRaw from "rehype-raw";
import rehypeStringify from "rehype-stringify";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import remarkRehype from "remark-rehype";
import { unified } from "unified";

const DANGEROUS = { allowDangerousHtml: true, allowDangerousProtocol: true } as const;
const EXTENSIONS = [gfm()];
const marked = new Marked({ gfm: true, async: false });
const markdownIt = new MarkdownIt({ html: true, linkify: true });
// Some pages switch the check of schemes off.
markdownIt.validateLink = () => true;
const remark = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, { allowDangerousHtml: true })
  .use(rehypeRaw)
  .use(rehypeStringify)
  .freeze();

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
  ["markdown-it", (text: string) => markdownIt.render(text)],
  ["remark", (text: string) => String(remark.processSync(text))],
]);
