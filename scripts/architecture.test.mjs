// ARCHITECTURE.md is read before the code: its maps, links, layers and counts are compared with the sources.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { filesBelow, isTest, read, root } from "./sources.mjs";

const GATEWAY = "packages/gateway/src";
const page = read("ARCHITECTURE.md");

/** The text below a heading, up to the next heading of the same or a higher level. */
function section(title) {
  const [, level] = new RegExp(`^(#+) ${title}$`, "m").exec(page) ?? [];
  if (level === undefined) throw new TypeError(`ARCHITECTURE.md has no heading "${title}"`);
  const [, below] = page.split(`${level} ${title}\n`);
  return below.split(new RegExp(`^#{1,${level.length}} `, "m"))[0];
}

/** The cells of each row of the tables in a text, without the heads of the tables. */
function rowsOf(text) {
  const lines = text.split("\n").filter((line) => line.startsWith("|"));
  return lines
    .filter((line, index) => !line.startsWith("|---") && !lines[index + 1]?.startsWith("|---"))
    .map((line) => line.slice(1, -1).split("|"));
}

/** The relative links of a text, in order. */
function linksOf(text) {
  return [...text.matchAll(/\]\(([^)\s#]+)\)/g)]
    .map(([, target]) => target)
    .filter((target) => !/^https?:/.test(target));
}

function foldersIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

test("every link leads to a file or a folder", () => {
  const links = linksOf(page);
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter((target) => !existsSync(join(root, target)))).toEqual([]);
});

test("the folder map of the gateway has each of its folders once, and no other", () => {
  const mapped = rowsOf(section("Folders of the gateway")).map(([folder]) => linksOf(folder)[0]);
  const folders = foldersIn(GATEWAY).map((name) => `${GATEWAY}/${name}`);
  expect(mapped.toSorted()).toEqual(folders);
});

test("the package map has each package and app once, and no other", () => {
  const [, above] = page.split("## Packages\n");
  const mapped = rowsOf(above.split("\n### ", 1)[0]).map(([name]) => linksOf(name)[0]);
  const packages = ["apps", "packages"].flatMap((folder) =>
    foldersIn(folder)
      .filter((name) => existsSync(join(root, folder, name, "package.json")))
      .map((name) => `${folder}/${name}`),
  );
  expect(mapped.toSorted()).toEqual(packages);
});

test("every folder of the gateway imports only folders on lower lines of the map", () => {
  const [, block] = section("Folders of the gateway").split("```");
  const lines = block.split("\n").slice(1, -1);
  const levels = new Map(
    lines.flatMap((line, level) => line.split(/\s+/).map((name) => [name, level])),
  );
  const folders = foldersIn(GATEWAY).filter((name) => name !== "testing");
  expect([...levels.keys()].toSorted()).toEqual(folders);
  const wrong = new Set();
  for (const path of filesBelow(GATEWAY, (name) => name.endsWith(".ts"))) {
    if (isTest(path)) continue;
    const from = folderOf(path);
    for (const [, specifier] of read(path).matchAll(
      /^(?:import|\} from|export)\b.*"(\.[^"]+)"/gm,
    )) {
      const to = folderOf(normalize(join(dirname(path), specifier)));
      if (from === to || from === undefined || to === undefined) continue;
      if (!(levels.get(to) > levels.get(from))) wrong.add(`${from} imports ${to} in ${path}`);
    }
  }
  expect([...wrong]).toEqual([]);
});

test.each(["event", "request"])(
  "the walk of one %s has the number of crossings that it states",
  (name) => {
    const text = section(`Walk of one ${name}`);
    const [, table] = text.split(`<!-- walk: ${name} -->`);
    const folders = rowsOf(table).map(([, file]) => folderOf(linksOf(file)[0]));
    const crossings = folders.filter((folder, index) => index > 0 && folder !== folders[index - 1]);
    expect(text).toContain(`**Crossings: ${crossings.length}`);
  },
);

test("every invariant names where it is enforced and where it is tested", () => {
  const rows = rowsOf(section("Invariants"));
  for (const [number, invariant, enforced, tested] of rows) {
    const row = `${number.trim()}: ${invariant.trim()}`;
    expect({ row, enforced: linksOf(enforced).length > 0 }).toEqual({ row, enforced: true });
    expect({ row, tests: linksOf(tested).filter(isTestFile) }).toEqual({
      row,
      tests: linksOf(tested),
    });
    expect({ row, isTested: linksOf(tested).length > 0 }).toEqual({ row, isTested: true });
  }
  const numbers = new Set(rows.map(([number]) => Number(number)));
  expect([...numbers].toSorted((one, other) => one - other)).toEqual(
    Array.from(numbers, (_, index) => index + 1),
  );
});

function isTestFile(path) {
  return /\.test\.(ts|tsx|mjs)$/.test(path);
}

/** The first folder below `src` of the gateway; undefined for files directly in it. */
function folderOf(path) {
  const inside = path.slice(GATEWAY.length + 1);
  return inside.includes("/") ? inside.split("/", 1)[0] : undefined;
}
