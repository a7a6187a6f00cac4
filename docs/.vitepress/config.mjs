// The documentation as a site: `npm run docs` serves it, `npm run docs:build` builds it and fails on a dead link.
import { defineConfig } from "vitepress";
import { anchorOf } from "../../scripts/anchors.mjs";
import { drawDiagrams } from "./diagrams.mjs";
import { resolveLinks } from "./links.mjs";
import { writeLlms } from "./llms.mjs";
import { showAsWritten } from "./markup.mjs";
import { listPages, sitePathOf } from "./pages.mjs";
import { createSidebars, listGroups } from "./sidebar.mjs";

const pages = listPages();
const title = "Countersign";
const description = "The gateway between AI agents and the people who use them";

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
    config(markdown) {
      resolveLinks(markdown, pages);
      drawDiagrams(markdown);
      showAsWritten(markdown);
    },
  },
  vite: { build: { chunkSizeWarningLimit: 4096 } },
  themeConfig: {
    search: { provider: "local" },
    sidebar: createSidebars(),
    outline: [2, 3],
  },
  buildEnd: ({ outDir }) => writeLlms(outDir, { title, description }, listGroups()),
});
