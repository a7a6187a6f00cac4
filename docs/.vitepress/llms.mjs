// llms.txt: the list of pages for language models, with each page as Markdown beside its HTML (https://llmstxt.org).
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../scripts/sources.mjs";
import { sitePathOf, titleOf } from "./pages.mjs";

/** The text of llms.txt for the groups of the sidebar. */
export function llmsText({ title, description }, groups) {
  const sections = groups.map((group) => {
    const lines = group.pages.map((page) => `- [${titleOf(page)}](/${sitePathOf(page)})`);
    return `## ${group.title}\n\n${lines.join("\n")}\n`;
  });
  return `# ${title}\n\n> ${description}\n\n${sections.join("\n")}`;
}

/** Writes llms.txt and the Markdown of every page into the built site. */
export function writeLlms(outDir, site, groups) {
  for (const page of groups.flatMap((group) => group.pages)) {
    const target = join(outDir, sitePathOf(page));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, page), target);
  }
  writeFileSync(join(outDir, "llms.txt"), llmsText(site, groups));
}
