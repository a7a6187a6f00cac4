// Links in the sources are relative to the file, as code hosts read them. On the site they name pages, or files that stay in the repository.
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "../../scripts/sources.mjs";
import { addressOf } from "./pages.mjs";

/**
 * A plugin of markdown-it. A link to a page becomes its address. A link to another file of the repository becomes its path as text, since
 * the site does not serve it. A link to nothing keeps its target, so that the build fails.
 */
export function resolveLinks(markdown, pages) {
  const known = new Set(pages);
  markdown.core.ruler.push("repository-links", ({ tokens, env }) => {
    const page = env.realPath ?? env.path;
    if (page === undefined) return;
    for (const { children } of tokens) {
      for (const [index, token] of (children ?? []).entries()) {
        if (token.type === "link_open") resolve(token, children, index, dirname(page), known);
      }
    }
  });
}

function resolve(token, siblings, index, folder, known) {
  const href = token.attrGet("href");
  if (href === null || /^(?:[a-z]+:|#|\/)/.test(href)) return;
  const [file, anchor] = href.split("#");
  const path = relative(root, join(folder, decodeURI(file))).replace(/\/$/, "");
  const page = [path, `${path}/README.md`].find((candidate) => known.has(candidate));
  if (page !== undefined) {
    token.attrSet("href", addressOf(page) + (anchor === undefined ? "" : `#${anchor}`));
  } else if (existsSync(join(root, path))) {
    const end = siblings.find(({ type }, place) => place > index && type === "link_close");
    for (const one of [token, end]) one.tag = "span";
    token.attrs = [
      ["class", "repository-file"],
      ["title", `In the repository: ${path}`],
    ];
  }
}
