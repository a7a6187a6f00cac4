import MarkdownIt from "markdown-it";
import MarkdownItLatest from "markdown-it-latest";
import { Marked } from "marked";
import { Marked as MarkedLatest } from "marked-latest";
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
const markedLatest = new MarkedLatest({ gfm: true, async: false });
const markdownIt = new MarkdownIt({ html: true, linkify: true });
const markdownItLatest = new MarkdownItLatest({ html: true, linkify: true });
// Some pages switch the check of schemes off.
markdownIt.validateLink = markdownItLatest.validateLink = () => true;
const remark = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkRehype, { allowDangerousHtml: true })
  .use(rehypeRaw)
  .use(rehypeStringify)
  .freeze();

/** Renderers that chats use, told to let HTML through. Two versions where pages use both: they differ in code and lists. */
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
  ["marked 15", (text: string) => String(marked.parse(text))],
  ["marked 18", (text: string) => String(markedLatest.parse(text))],
  ["markdown-it 14", (text: string) => markdownIt.render(text)],
  ["markdown-it 15", (text: string) => markdownItLatest.render(text)],
  ["remark", (text: string) => String(remark.processSync(text))],
]);
