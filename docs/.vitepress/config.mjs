// The documentation as a site: `npm run docs` serves it, `npm run docs:build` builds it and fails on a dead link.
import { defineConfig } from "vitepress";
import { anchorOf } from "../../scripts/anchors.mjs";
import { correctTheme, keepHeadsNamed } from "./accessible.mjs";
import { drawDiagrams } from "./diagrams.mjs";
import { resolveLinks } from "./links.mjs";
import { writeLlms } from "./llms.mjs";
import { showAsWritten } from "./markup.mjs";
import { addressOf, listPages, sitePathOf } from "./pages.mjs";
import { createSidebars, listGroups } from "./sidebar.mjs";

const pages = listPages();
const title = "Countersign";
const description = "The gateway between AI agents and the people who use them";

/** How much a page counts in the search: pages for a task first, history last. VitePress copies the function into the page. */
function boostDocument(id) {
  if (/^\/(?:changelog|decisions|docs\/decisions|reference\/invariants)/i.test(id)) return 0.1;
  return /^\/(?:concepts|start\/|how-to\/)/.test(id) ? 3 : 1;
}

export default defineConfig({
  title,
  description,
  lang: "en",
  srcDir: "..",
  srcExclude: ["README.md", "bench/**"],
  rewrites: Object.fromEntries(pages.map((page) => [page, sitePathOf(page)])),
  cleanUrls: true,
  markdown: {
    anchor: { slugify: anchorOf },
    attrs: { disable: true },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config(markdown) {
      resolveLinks(markdown, pages);
      drawDiagrams(markdown);
      showAsWritten(markdown);
      keepHeadsNamed(markdown);
    },
  },
  vite: { build: { chunkSizeWarningLimit: 4096 }, plugins: [correctTheme()] },
  themeConfig: {
    search: { provider: "local", options: { miniSearch: { searchOptions: { boostDocument } } } },
    nav: [
      { text: "Tutorial", link: addressOf("docs/start/tutorial.md") },
      { text: "Concepts", link: addressOf("docs/concepts.md") },
      { text: "How-to", link: addressOf("docs/how-to/read-a-denial.md") },
      { text: "Reference", link: addressOf("docs/reference/configuration.md") },
      { text: "Explain", link: addressOf("docs/explain/architecture.md") },
    ],
    sidebar: createSidebars(),
    outline: [2, 3],
  },
  buildEnd: ({ outDir }) => writeLlms(outDir, { title, description }, listGroups()),
});
