// Packs every published package into one folder, as `npm publish` would.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleCommand } from "../apps/cli/bundle.mjs";
import { filesBelow, read, root } from "./sources.mjs";

const USAGE = `usage: npm run pack [-- FOLDER]

Packs every published package into FOLDER (dist/release unless named), which is emptied first. Build before: npm run build.

Example: npm run pack -- /tmp/release
`;

/** The folder of the command. */
const COMMAND = "apps/cli";

/** The published packages: folder and manifest. */
export function publishedPackages() {
  return ["packages", "apps"]
    .flatMap((folder) => filesBelow(folder, (name) => name === "package.json"))
    .map((path) => ({ folder: dirname(path), manifest: JSON.parse(read(path)) }))
    .filter(({ manifest }) => manifest.private !== true);
}

/** Packs all of them; gives the paths of the tarballs by the name of the package. */
export async function packAll(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const libraries = publishedPackages().filter((one) => one.folder !== COMMAND);
  const packed = pack(
    folder,
    libraries.flatMap((one) => ["-w", one.folder]),
  );
  return new Map([...packed, ...(await packCommand(folder))]);
}

/** Packs the command, which is published as a bundle. */
export async function packCommand(folder) {
  const bundle = mkdtempSync(join(tmpdir(), "countersign-bundle-"));
  try {
    await bundleCommand(bundle);
    return pack(folder, [bundle]);
  } finally {
    rmSync(bundle, { recursive: true });
  }
}

/** Packs what npm is told, without the network. */
export function pack(folder, chosen) {
  const words = ["pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", folder];
  const { stdout, stderr, status } = spawnSync("npm", [...words, ...chosen], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
  return new Map(JSON.parse(stdout).map(({ name, filename }) => [name, join(folder, filename)]));
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [folder = join(root, "dist/release")] = process.argv.slice(2);
  if (folder.startsWith("-")) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
  } else for (const path of (await packAll(resolve(folder))).values()) console.log(path);
}
