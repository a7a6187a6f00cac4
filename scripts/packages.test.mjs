// The libraries that others install: each as npm would pack it, laid out with the dependencies of its package.json and nothing else.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publishedPackages } from "./pack.mjs";
import { read, root } from "./sources.mjs";

/** Sub-paths that a page may import, where nothing of Node is known. */
const FOR_PAGES =
  /^@countersign\/(?:core|wire|surface|policy|capability|client|react|svelte|projection)\b|^@countersign\/receipts\/(?:verify|stream)$/u;
/** Types that a program brings itself. */
const TYPES_OF_THE_USER = ["@types/node", "@types/react"];

/** The libraries; scripts/installed-command.test.mjs installs the command. */
const published = publishedPackages().filter(({ manifest }) => manifest.name !== "countersign");
const user = mkdtempSync(join(tmpdir(), "countersign-user-"));
const modules = join(user, "node_modules");
/** Names of the files npm would pack, by package. */
const packed = new Map();

beforeAll(() => {
  const chosen = published.flatMap(({ folder }) => ["-w", folder]);
  const listed = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts", ...chosen], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  for (const { name, files } of JSON.parse(listed.stdout)) {
    packed.set(
      name,
      files.map(({ path }) => path),
    );
  }
  for (const { folder, manifest } of published) layOut(folder, manifest);
  const peers = published.flatMap(({ folder, manifest }) =>
    Object.keys(manifest.peerDependencies ?? {}).map((name) => ({ name, folder })),
  );
  for (const { name, folder } of peers) link(name, modules, join(root, folder));
  for (const name of TYPES_OF_THE_USER) link(name, modules, root);
}, 120_000);

afterAll(() => rmSync(user, { recursive: true, force: true }));

/** Puts a package where npm would, its dependencies below it: what it does not name, it does not find. */
function layOut(folder, { name, dependencies = {}, optionalDependencies = {} }) {
  const place = join(modules, name);
  for (const path of packed.get(name)) {
    cpSync(join(root, folder, path), join(place, path), { recursive: true });
  }
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) {
    if (packed.has(needed)) continue;
    link(needed, join(place, "node_modules"), join(root, folder));
  }
}

/** Links a package of others, found as a module in `from` would find it. */
function link(name, into, from) {
  if (existsSync(join(into, name))) return;
  let place = from;
  while (!existsSync(join(place, "node_modules", name))) {
    if (place === dirname(place)) throw new Error(`${name} is not installed`);
    place = dirname(place);
  }
  mkdirSync(dirname(join(into, name)), { recursive: true });
  symlinkSync(realpathSync(join(place, "node_modules", name)), join(into, name));
}

/** What can be imported of the published packages; sub-paths for our own tests have no built form. */
function subPaths() {
  return published.flatMap(({ manifest: { name, exports = {} } }) =>
    Object.entries(exports)
      .filter(([path, targets]) => targets.default !== undefined && !path.endsWith(".json"))
      .map(([path, targets]) => ({
        name: join(name, path),
        package: name,
        files: filesOf(targets),
      })),
  );
}

/** The files that a target of `exports` leads to under some condition, sources left out. */
function filesOf(target) {
  if (typeof target === "string") return [target.slice(2)];
  return Object.entries(target).flatMap(([condition, inner]) =>
    condition === "@countersign/source" ? [] : filesOf(inner),
  );
}

function compile(name, paths, options) {
  const folder = join(user, name);
  mkdirSync(folder);
  const lines = paths.map((path, index) => `export * as part${index} from "${path}";`);
  writeFileSync(join(folder, "index.ts"), lines.join("\n"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const compilerOptions = { strict: true, noEmit: true, target: "ES2023", ...options };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  return spawnSync(process.execPath, [compiler, "-p", folder], { encoding: "utf8" });
}

test.each(published)("$manifest.name ships what it needs and no more", ({ folder, manifest }) => {
  const files = packed.get(manifest.name);
  expect(files).toContain("README.md");
  expect(read(join(folder, "LICENSE"))).toBe(read("LICENSE"));
  expect(files).toContain("LICENSE");
  expect(files.filter((path) => /tsbuildinfo|\.test\.[jd]|\/testing\//u.test(path))).toEqual([]);
  const exported = subPaths().filter((path) => path.package === manifest.name);
  expect(files).toEqual(expect.arrayContaining(exported.flatMap((path) => path.files)));
});

test("everything that is exported can be imported", { timeout: 120_000 }, () => {
  const paths = subPaths().map(({ name }) => name);
  expect(paths.length).toBeGreaterThan(30);
  const program = `for (const path of ${JSON.stringify(paths)}) {
    try { await import(path); } catch (error) { console.log(path, String(error)); }
  }`;
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: user,
    encoding: "utf8",
  });
  expect(run.stdout + run.stderr).toBe("");
});

test("types hold in a program for Node that checks libraries", { timeout: 120_000 }, () => {
  const paths = subPaths().map(({ name }) => name);
  const options = { module: "NodeNext", types: ["node"], skipLibCheck: false };
  expect(compile("node-program", paths, options).stdout).toBe("");
});

test("types hold in a page without a word of Node", { timeout: 120_000 }, () => {
  const paths = subPaths().map(({ name }) => name);
  const forPages = paths.filter((path) => FOR_PAGES.test(path));
  expect(forPages.length).toBeGreaterThan(15);
  const lib = ["ES2023", "DOM", "DOM.Iterable"];
  const options = { module: "ESNext", moduleResolution: "bundler", types: [], lib };
  expect(compile("page", forPages, { ...options, skipLibCheck: false }).stdout).toBe("");
});
