// Imports point one way. Prints the sentence of the rule that an import breaks.
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { filesBelow, isTest, read, root } from "./sources.mjs";

/** What each package may import of ours. */
const MAY_IMPORT = {
  core: [],
  wire: ["core"],
  surface: ["core"],
  policy: ["core", "wire", "surface"],
  capability: ["core"],
  receipts: ["core"],
  projection: ["core", "wire"],
  client: ["core", "wire"],
  react: ["client"],
  svelte: ["client"],
  redteam: ["core", "wire"],
  inspect: ["core", "wire", "surface"],
  gateway: ["core", "wire", "surface", "policy", "capability", "receipts"],
  "apps/console": ["core", "wire", "surface", "capability", "receipts"],
};

const SENTENCES = {
  core: "core stands below everything and imports none of our packages.",
  redteam: "redteam attacks from outside: it imports core and wire only.",
  inspect: "inspect looks from outside: it imports core, wire and surface only.",
  react: "a binding only binds: react imports client only.",
  svelte: "a binding only binds: svelte imports client only.",
  "apps/console":
    "the console knows a gateway by its control API alone: it imports core, wire, surface, capability and receipts only.",
  testkit: "testkit is an independent oracle and imports none of our packages.",
};

/** Packages that run anywhere: nothing of Node may be reachable outside files made for Node. */
const RUNS_ANYWHERE = new Set([
  "core",
  "wire",
  "surface",
  "policy",
  "capability",
  "projection",
  "client",
  "react",
  "svelte",
  "apps/console",
]);

/** From these entries, no file matching `never` may be reachable. */
const UNREACHABLE = [
  {
    from: "packages/receipts/src/verify/index.ts",
    never: /\/(sign|log|store|sqlite|postgres|bundles|export)\//,
    sentence: "receipts/verify reaches no signing code and no storage.",
  },
  {
    from: "packages/receipts/src/verify-statements/index.ts",
    never: /\/(sign|log|store|sqlite|postgres|bundles|export)\//,
    sentence: "receipts/verify-statements reaches no signing code and no storage.",
  },
  {
    from: "packages/capability/src/index.ts",
    never: /capability\/src\/issue\//,
    sentence: "capability verifies without any issuing code.",
  },
  {
    from: "packages/core/src/ed25519/verify-node.ts",
    never: /ed25519\/sign/,
    sentence: "core/verify reaches no signing code.",
  },
  {
    from: "packages/core/src/ed25519/verify-webcrypto.ts",
    never: /ed25519\/sign/,
    sentence: "core/verify reaches no signing code.",
  },
];

const IMPORT =
  /(?:^|[\s;])(?:import|export)\s[^;"']*?from\s*["']([^"']+)["']|import\s*\(\s*["']([^"']+)["']\s*\)|^import\s+["']([^"']+)["']/gm;

const files = ["packages", "apps", "testkit"].flatMap((folder) =>
  filesBelow(folder, (name) => /\.(ts|tsx|svelte)$/.test(name)),
);
const problems = [];
const graph = new Map();

function ownerOf(path) {
  const [folder, name] = path.split("/");
  return folder === "packages" ? name : folder === "apps" ? `apps/${name}` : folder;
}

/** Comments are dropped first: examples in doc comments are not imports. */
function importsOf(path) {
  const text = read(path).replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? match[3]);
}

function resolveRelative(path, specifier) {
  const base = normalize(join(dirname(path), specifier));
  for (const candidate of [base.replace(/\.js$/, ".ts"), base.replace(/\.jsx?$/, ".tsx"), base]) {
    if (existsSync(join(root, candidate))) return candidate;
  }
  return undefined;
}

function checkOurs(path, owner, specifier) {
  const target = specifier.split("/")[1];
  if (owner === "testkit") return target === "testkit" ? undefined : SENTENCES.testkit;
  if (target === "testkit") {
    return isTest(path) ? undefined : "testkit serves tests alone; the product never imports it.";
  }
  const allowed = MAY_IMPORT[owner];
  if (allowed === undefined || target === owner || allowed.includes(target)) return undefined;
  if (isTest(path) && owner !== "core") return undefined;
  return SENTENCES[owner] ?? `${owner} imports ${allowed.join(", ")} only.`;
}

for (const path of files) {
  const owner = ownerOf(path);
  const reached = [];
  for (const specifier of importsOf(path)) {
    let broken;
    if (specifier.startsWith("@countersign/")) broken = checkOurs(path, owner, specifier);
    else if (specifier.startsWith(".")) {
      const target = resolveRelative(path, specifier);
      if (target !== undefined) reached.push(target);
      // Test support is not part of a package's face: tests of others may reach for it.
      const isSupport = isTest(path) && target?.includes("/testing/");
      if (target !== undefined && ownerOf(target) !== owner && !isSupport) {
        broken = "a package is entered through its exports, never by a relative path.";
      }
      if (target !== undefined && isTest(target) && !isTest(path)) {
        broken = "the product never imports what only serves tests.";
      }
    } else if (specifier.startsWith("node:")) {
      const forNode = /(^|[./-])node\.ts$/.test(path) || path.includes("/node/");
      if (RUNS_ANYWHERE.has(owner) && !forNode && !isTest(path)) {
        broken = `${owner} runs anywhere: Node's modules are imported only by files named *node.ts behind a conditional export.`;
      }
    }
    if (broken !== undefined) problems.push(`${path} imports ${specifier}: ${broken}`);
  }
  graph.set(path, reached);
  const isParser = path.startsWith("packages/core/src/json/");
  if (
    path.startsWith("packages/") &&
    !isTest(path) &&
    !isParser &&
    /\bJSON\.parse\(/.test(read(path))
  ) {
    problems.push(`${path}: outside bytes become values in core/json alone; use parseJson.`);
  }
}

/** The first folder below `src` of a package; `.` for files directly in it. */
function folderOf(path) {
  const [, inside] = path.split("/src/");
  return inside?.includes("/") ? inside.split("/", 1)[0] : ".";
}

/** Two folders of one package import each other: whoever changes one has to know both. */
function checkFolders() {
  const edges = new Map();
  for (const [path, reached] of graph) {
    if (isTest(path)) continue;
    for (const target of reached) {
      const [from, to] = [folderOf(path), folderOf(target)];
      const isInside = ownerOf(target) === ownerOf(path) && !isTest(target);
      if (from !== to && isInside) edges.set(`${ownerOf(path)} ${from} ${to}`, [path, target]);
    }
  }
  for (const [key, [path, target]] of edges) {
    const [owner, from, to] = key.split(" ");
    const back = edges.get(`${owner} ${to} ${from}`);
    if (back === undefined || from > to) continue;
    problems.push(
      `${path} imports ${target}, and ${back[0]} imports ${back[1]}: folders of a package import in one direction; move what both need below both.`,
    );
  }
}

/** Folders of a package that reach themselves through others: there is no order to read them in. */
function checkFolderOrder() {
  const below = new Map();
  for (const [path, reached] of graph) {
    for (const target of isTest(path) ? [] : reached) {
      if (ownerOf(target) !== ownerOf(path) || isTest(target)) continue;
      const [from, to] = [path, target].map((file) => `${ownerOf(file)}/${folderOf(file)}`);
      if (from !== to) below.set(from, (below.get(from) ?? new Set()).add(to));
    }
  }
  const done = new Set();
  const visit = (folder, trail) => {
    if (done.has(folder)) return;
    if (trail.includes(folder)) {
      const circle = [...trail.slice(trail.indexOf(folder)), folder];
      if (circle.length > 3) problems.push(`${circle.join(" → ")}: folders import downwards only.`);
      return;
    }
    for (const next of below.get(folder) ?? []) visit(next, [...trail, folder]);
    done.add(folder);
  };
  for (const folder of below.keys()) visit(folder, []);
}

/** Files that import each other in a circle, by Tarjan's strongly connected components. */
function checkCycles() {
  const order = new Map();
  const lowest = new Map();
  const stack = [];
  const visit = (path) => {
    order.set(path, order.size);
    lowest.set(path, order.get(path));
    stack.push(path);
    for (const next of graph.get(path) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(path, Math.min(lowest.get(path), lowest.get(next)));
    }
    if (lowest.get(path) !== order.get(path)) return;
    const circle = stack.splice(stack.indexOf(path));
    if (circle.length > 1) {
      problems.push(`${circle.join(" → ")} → ${path}: no files import each other in a circle.`);
    }
  };
  for (const path of graph.keys()) if (!order.has(path)) visit(path);
}

checkFolders();
checkFolderOrder();
checkCycles();

for (const { from, never, sentence } of UNREACHABLE) {
  const seen = new Set();
  const walk = (path, trail) => {
    if (seen.has(path)) return;
    seen.add(path);
    if (never.test(path)) problems.push(`${[...trail, path].join(" → ")}: ${sentence}`);
    else for (const next of graph.get(path) ?? []) walk(next, [...trail, path]);
  };
  if (graph.has(from)) walk(from, []);
  else problems.push(`${from} does not exist, so nobody checks that ${sentence}`);
}

for (const problem of problems) process.stderr.write(`check:deps: ${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else process.stdout.write(`check:deps: ${files.length} files, every import points the right way\n`);
