// A dead link in the docs costs a reader more than a missing page: every relative link and anchor must resolve.
import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { anchorOf } from "./anchors.mjs";
import { filesBelow, read, root } from "./sources.mjs";

const pages = filesBelow(".", (name) => name.endsWith(".md"));

function anchorsOf(path) {
  const text = read(path).replaceAll(/```[\s\S]*?```/g, "");
  const anchors = new Set();
  for (const [, title] of text.matchAll(/^#{1,6} (.+)$/gm)) {
    anchors.add(anchorOf(title));
  }
  for (const [, id] of text.matchAll(/<a id="([^"]+)"/g)) anchors.add(id);
  return anchors;
}

const problems = [];
let links = 0;
for (const page of pages) {
  const text = read(page)
    .replaceAll(/```[\s\S]*?```/g, "")
    .replaceAll(/`[^`\n]*`/g, "");
  for (const [, target] of text.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)) {
    links += 1;
    if (/^(https?:|mailto:)/.test(target)) continue;
    const [file, anchor] = target.split("#");
    const path = file ? normalize(join(dirname(page), decodeURIComponent(file))) : page;
    if (!existsSync(join(root, path))) problems.push(`${page}: ${target} does not exist`);
    else if (
      anchor &&
      path.endsWith(".md") &&
      statSync(join(root, path)).isFile() &&
      !anchorsOf(path).has(anchor)
    ) {
      problems.push(`${page}: ${target} names a heading that is not there`);
    }
  }
}
for (const problem of problems) process.stderr.write(`check:links: ${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else process.stdout.write(`check:links: ${links} links in ${pages.length} pages\n`);
