// The pages of the site and the path of each. Pages stay where code hosts and the product's messages name them; the sidebar gives the structure.
import { filesBelow, read } from "../../scripts/sources.mjs";

/** Not pages of the site: the front page of the repository (docs/README.md is the site's), and records of measurements. */
const EXCLUDED = ["README.md", "bench/"];

/** Every page, as a path below the root of the repository. */
export function listPages() {
  const pages = filesBelow(".", (name) => name.endsWith(".md"));
  return pages.filter((page) => !EXCLUDED.some((prefix) => page.startsWith(prefix)));
}

/** The path of a page on the site, with its suffix: `docs/access.md` is `access.md`, `docs/README.md` is `index.md`. */
export function sitePathOf(page) {
  return page.replace(/^docs\//, "").replace(/(^|\/)README\.md$/, "$1index.md");
}

/** The address of a page on the site. */
export function addressOf(page) {
  return `/${sitePathOf(page)
    .replace(/(^|\/)index\.md$/, "$1")
    .replace(/\.md$/, "")}`;
}

/** The first heading of a page. */
export function titleOf(page) {
  const [, title] = /^# (.+)$/m.exec(read(page)) ?? [];
  if (title === undefined) throw new TypeError(`${page} has no heading of the first level`);
  return title.replaceAll("`", "");
}
