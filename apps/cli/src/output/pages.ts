import { existsSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { pageAddress } from "@countersign/core";

/** This package, and the place of the pages if this package is in a clone of the repository. */
const PACKAGE = new URL("../../", import.meta.url);
const REPOSITORY = new URL("../../", PACKAGE);
const PAGES =
  new URL("apps/cli/", REPOSITORY).href === PACKAGE.href ? new URL("docs/", REPOSITORY) : undefined;

/** Names a documentation page for people: its address, and its path where the page is on this machine. */
export function pageReference(page: string, pages: URL | undefined = PAGES): string {
  const [path = ""] = page.split("#");
  const file = pages === undefined ? undefined : fileURLToPath(new URL(path, pages));
  const address = pageAddress(page);
  if (file === undefined || !existsSync(file)) return address;
  return `${address} (${relative(process.cwd(), file)})`;
}

/** A page as texts of this repository name it: a link in Markdown, or a path from the root. */
const MENTION =
  /\[([^\]]+)\]\((?:\.\.\/|docs\/)?([\w./-]+\.md(?:#[\w-]+)?)\)|\bdocs\/([\w./-]+\.md)/gu;

/** Replaces each mention of a page in a text by its reference. */
export function referPages(text: string, refer: (page: string) => string = pageReference): string {
  return text.replaceAll(MENTION, (_, label: string | undefined, linked = "", named = "") =>
    label === undefined || label.endsWith(".md")
      ? refer(linked || named)
      : `${label} (${refer(linked)})`,
  );
}
