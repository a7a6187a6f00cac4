// The command as one package: its modules and all JavaScript that it needs in a few files, so that npx installs three packages
// instead of sixty. SQLite stays a dependency, because it is a binary.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = import.meta.dirname;
const root = resolve(here, "../..");

/** Packages that are loaded when they are installed: a binary, faster signatures, and the SDKs of the red team. */
const BINARY = "@photostructure/sqlite";
const OPTIONAL = ["sodium-native", "@modelcontextprotocol/sdk", "@a2a-js/sdk"];
/** Optional parts of libraries, which try to load them and go on without. */
const ABSENT = ["pg-native", "bufferutil", "utf-8-validate", "cloudflare:sockets"];

const ENTRIES = {
  main: "apps/cli/dist/main.js",
  "store-worker": "packages/gateway/dist/store/sqlite/worker.js",
  "sign-worker": "packages/receipts/dist/sign/worker.js",
  "index-worker": "packages/receipts/dist/sqlite/worker.js",
  "verify-worker": "packages/receipts/dist/verify-node/worker.js",
};

/** Paths from a module to a file beside it, and the same from the folder of the bundle. */
const PATHS = {
  "packages/gateway/dist/store/sqlite/database-thread.js": ["./worker.js", "./store-worker.js"],
  "packages/receipts/dist/sign/pool.js": ["./worker.js", "./sign-worker.js"],
  "packages/receipts/dist/sqlite/index-client.js": ["./worker.js", "./index-worker.js"],
  "packages/receipts/dist/verify-node/index.js": ["./worker.js", "./verify-worker.js"],
  "packages/redteam/dist/library/library.js": ["../../library/", "../library/"],
  "apps/cli/dist/demo/page.js": ["../../assets/demo/", "../assets/demo/"],
  "apps/cli/dist/commands/policy/error-pages.js": ["../../../assets/", "../assets/"],
  "apps/cli/dist/output/pages.js": ['"../../", import.meta', '"../", import.meta'],
  "apps/console/files.mjs": ["./dist/", "../console/"],
};
/** Where a policy is found by the name of its package, which is not there any more. */
const POLICIES = "apps/cli/dist/files/shipped-policy.js";
const SHIPPED_POLICY = `import { fileURLToPath } from "node:url";
export const shippedPolicy = (name) => fileURLToPath(new URL(\`../policies/\${name}\`, import.meta.url));
`;

/** Writes the package into a folder, which is emptied first. The workspace must be built. */
export async function bundleCommand(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const used = new Set();
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ENTRIES,
    outdir: join(folder, "dist"),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    chunkNames: "[name]-[hash]",
    legalComments: "none",
    metafile: true,
    logLevel: "error",
    external: [BINARY, ...[...OPTIONAL].flatMap((name) => [name, `${name}/*`]), ...ABSENT],
    // Libraries in CommonJS call require, which a module does not have.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    plugins: [{ name: "paths", setup: (plugin) => rewritePaths(plugin, used) }],
  });
  const missed = [...Object.keys(PATHS), POLICIES].filter((path) => !used.has(path));
  if (missed.length > 0) throw new Error(`not part of the bundle: ${missed.join(", ")}`);
  copyFiles(folder);
  writeFileSync(join(folder, "THIRD-PARTY-NOTICES.txt"), noticesOf(Object.keys(metafile.inputs)));
  writeFileSync(join(folder, "package.json"), manifestText());
}

function rewritePaths(plugin, used) {
  plugin.onLoad({ filter: /\.m?js$/ }, ({ path }) => {
    const name = relative(root, path);
    if (name === POLICIES) {
      used.add(name);
      return { contents: SHIPPED_POLICY, loader: "js" };
    }
    const change = PATHS[name];
    if (change === undefined) return undefined;
    const text = readFileSync(path, "utf8");
    if (!text.includes(change[0])) throw new Error(`${name} has no path ${change[0]}`);
    used.add(name);
    return { contents: text.replaceAll(change[0], change[1]), loader: "js" };
  });
}

function copyFiles(folder) {
  for (const [from, to] of [
    ["apps/cli/bin", "bin"],
    ["apps/cli/assets", "assets"],
    ["apps/cli/README.md", "README.md"],
    ["LICENSE", "LICENSE"],
    ["packages/policy/policies", "policies"],
    ["packages/redteam/library", "library"],
    ["apps/console/dist/page", "console/page"],
    ["apps/console/dist/verifier", "console/verifier"],
  ]) {
    cpSync(join(root, from), join(folder, to), { recursive: true });
  }
}

/** The published manifest: what is in the bundle is no dependency any more. */
function manifestText() {
  const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  const versionOf = (owner, name) => {
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(root, "packages", owner, "package.json"), "utf8"),
    );
    return { ...dependencies, ...optionalDependencies }[name];
  };
  const [sodium, mcp, a2a] = OPTIONAL;
  const { devDependencies: _development, ...kept } = manifest;
  return `${JSON.stringify(
    {
      ...kept,
      files: undefined,
      dependencies: { [BINARY]: versionOf("receipts", BINARY) },
      peerDependencies: {
        [sodium]: versionOf("receipts", sodium),
        [mcp]: versionOf("redteam", mcp),
        [a2a]: versionOf("redteam", a2a),
      },
      peerDependenciesMeta: Object.fromEntries(OPTIONAL.map((name) => [name, { optional: true }])),
    },
    undefined,
    2,
  )}\n`;
}

/** The licenses of the libraries whose code is in the bundle. */
function noticesOf(inputs) {
  const folders = inputs.flatMap((path) => {
    const [, found] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//u.exec(path) ?? [];
    return found === undefined ? [] : [found];
  });
  const parts = [...new Set(folders)].toSorted().map((path) => {
    const place = join(root, path);
    const { name, version, license } = JSON.parse(
      readFileSync(join(place, "package.json"), "utf8"),
    );
    const file = readdirSync(place).find((one) => /^licen[cs]e/iu.test(one));
    const text =
      file === undefined ? `License: ${license}` : readFileSync(join(place, file), "utf8");
    return `${name} ${version}\n\n${text.trim()}\n`;
  });
  return `The files in dist contain code of these libraries.\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const folder = resolve(process.argv[2] ?? join(here, "dist-package"));
  if (existsSync(folder) && !existsSync(join(folder, "package.json"))) {
    console.error(`${folder} is not a folder that this program wrote`);
    process.exitCode = 1;
  } else {
    await bundleCommand(folder);
    console.log(dirname(join(folder, "package.json")));
  }
}
