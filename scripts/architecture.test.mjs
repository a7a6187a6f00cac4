// ARCHITECTURE.md and its two tables are read before the code: their maps, links, layers and counts are compared with the sources.
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { filesBelow, isTest, read, root } from "./sources.mjs";

const GATEWAY = "packages/gateway/src";
const ARCHITECTURE = "ARCHITECTURE.md";
const CODE_MAP = "docs/explain/code-map.md";
const INVARIANTS = "docs/reference/invariants.md";

/** The text below a heading, up to the next heading of the same or a higher level. */
function section(title, page = ARCHITECTURE) {
  const text = read(page);
  const [, level] = new RegExp(`^(#+) ${title}$`, "m").exec(text) ?? [];
  if (level === undefined) throw new TypeError(`${page} has no heading "${title}"`);
  const [, below] = text.split(`${level} ${title}\n`);
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

test.each([
  [ARCHITECTURE, 100],
  [CODE_MAP, 40],
  [INVARIANTS, 100],
])("every link of %s leads to a file or a folder", (page, count) => {
  const links = linksOf(read(page));
  expect(links.length).toBeGreaterThan(count);
  expect(links.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
});

test("ARCHITECTURE.md stays a page of ten minutes", () => {
  expect(read(ARCHITECTURE).split(/\s+/).length).toBeLessThan(2000);
});

test("the folder map of the gateway has each of its folders once, and no other", () => {
  const mapped = rowsOf(section("Folders of the gateway")).map(([folder]) => linksOf(folder)[0]);
  const folders = foldersIn(GATEWAY).map((name) => `${GATEWAY}/${name}`);
  expect(mapped.toSorted()).toEqual(folders);
});

test("the package map has each package and app once, and no other", () => {
  const mapped = rowsOf(section("Packages", CODE_MAP)).map(([name]) =>
    normalize(join(dirname(CODE_MAP), linksOf(name)[0])),
  );
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

test.each(["event", "request", "resumption"])(
  "the walk of one %s has the number of crossings that it states",
  (name) => {
    const text = section(`Walk of one ${name}`);
    const [, table] = text.split(`<!-- walk: ${name} -->`);
    const steps = [...table.matchAll(/^\d+\. \*\*(\w+)\*\*: (.*)$/gm)];
    for (const [step, folder, files] of steps) {
      expect({ step, folders: [...new Set(linksOf(files).map(folderOf))] }).toEqual({
        step,
        folders: [folder],
      });
    }
    const folders = steps.map(([, folder]) => folder);
    const crossings = folders.filter((folder, index) => index > 0 && folder !== folders[index - 1]);
    expect(crossings.length).toBeLessThanOrEqual(20);
    expect(text).toContain(`**Crossings: ${crossings.length}`);
  },
);

test("every invariant of the summary names a row's files", () => {
  const known = new Set(
    linksOf(read(INVARIANTS)).map((target) => normalize(join(dirname(INVARIANTS), target))),
  );
  const rows = rowsOf(section("Invariants"));
  expect(rows.length).toBeGreaterThan(5);
  for (const [invariant, enforced, tested] of rows) {
    expect({
      invariant,
      unknown: linksOf(enforced + tested).filter((path) => !known.has(path)),
    }).toEqual({ invariant, unknown: [] });
    expect(linksOf(tested).filter(isTestFile)).toHaveLength(1);
  }
});

test("every invariant names where it is enforced and where it is tested", () => {
  const rows = rowsOf(read(INVARIANTS));
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
