// One command from a clean clone to a tagged release: versions, changelog, checks, commit and tag. Nothing is pushed or published here:
// the pushed tag starts .github/workflows/release.yml, which does.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { filesBelow, root } from "./sources.mjs";

const USAGE = `usage: npm run release -- X.Y.Z [--dry-run] [--date YYYY-MM-DD] [--skip-tests]

Sets the version everywhere, gives "Unreleased" in CHANGELOG.md its heading, runs the checks and the tests, commits and tags.
--dry-run prints the files that would change, and changes nothing.

Example: npm run release -- 0.2.0 --dry-run
`;
const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?$/u;

/** Folders whose packages have the version of the release. */
const FOLDERS = ["packages", "apps", "examples", "testkit", "bench"];

/** Other files with the version, and where it is in them. */
const MENTIONS = {
  "packages/gateway/src/base/version.ts": /(VERSION = ")[^"]+(")/gu,
  "apps/cli/src/output/version.ts": /(VERSION = ")[^"]+(")/gu,
  "deploy/helm/countersign/Chart.yaml": /((?:^version|^appVersion): )[\w.-]+()/gmu,
  "deploy/kubernetes/deployment.yaml": /(image: countersign:)[\w.-]+()/gu,
  "deploy/compose/compose.yaml": /(image: countersign:)[\w.-]+()/gu,
};

/** Files that a release changes, with their new text. */
export function releaseChanges(
  version,
  date,
  readText = (path) => readFileSync(join(root, path), "utf8"),
) {
  const manifests = FOLDERS.flatMap((folder) =>
    filesBelow(folder, (name) => name === "package.json"),
  );
  const before = JSON.parse(readText("package.json")).version;
  const changes = new Map();
  const { repository } = JSON.parse(readText("package.json"));
  for (const path of ["package.json", ...manifests]) {
    changes.set(path, writeManifest(readText(path), version, repository.url));
  }
  changes.set("package-lock.json", writeLock(readText("package-lock.json"), version));
  for (const [path, place] of Object.entries(MENTIONS)) {
    const text = readText(path);
    if (text.match(place) === null) throw new Error(`${path} does not name the version`);
    changes.set(path, text.replaceAll(place, `$1${version}$2`));
  }
  changes.set("CHANGELOG.md", writeChangelog(readText("CHANGELOG.md"), version, date));
  return { before, changes };
}

/** Packages of the workspace name each other by the exact version. */
function setVersions(manifest, version) {
  if (manifest.version !== undefined) manifest.version = version;
  for (const kind of [
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
  ]) {
    for (const name of Object.keys(manifest[kind] ?? {})) {
      if (name === "countersign" || name.startsWith("@countersign/"))
        manifest[kind][name] = version;
    }
  }
  return manifest;
}

/** The root has the address of the repository; provenance needs it in each published package. */
function writeManifest(text, version, url) {
  const manifest = setVersions(JSON.parse(text), version);
  if (manifest.repository !== undefined) manifest.repository.url = url;
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** npm would ask the registry; the versions of our own packages are all that changes. */
function writeLock(text, version) {
  const lock = JSON.parse(text);
  lock.version = version;
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (!path.includes("node_modules/")) setVersions(entry, version);
  }
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

/** The new heading goes between "Unreleased" and its changes. */
function writeChangelog(text, version, date) {
  const [head, ...rest] = text.split("\n## ");
  const [first = "", ...older] = rest;
  const changes = first.replace(/^Unreleased\n/u, "");
  if (changes === first) throw new Error('CHANGELOG.md does not begin with "Unreleased"');
  if (changes.trim() === "") throw new Error("CHANGELOG.md has no changes under Unreleased");
  if (older.some((section) => section.startsWith(`${version} `))) {
    throw new Error(`CHANGELOG.md has ${version} already`);
  }
  return [head, "Unreleased\n", `${version} (${date})\n${changes}`, ...older].join("\n## ");
}

/** Whether a version is later than another; a pre-release is earlier than its release. */
export function isLater(version, before) {
  const parts = (text) => text.split("-")[0].split(".").map(Number);
  const [one, other] = [parts(version), parts(before)];
  const index = one.findIndex((part, at) => part !== other[at]);
  if (index !== -1) return one[index] > other[index];
  return before.includes("-") && !version.includes("-");
}

function run(command, words) {
  const { status } = spawnSync(command, words, { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error(`${[command, ...words].join(" ")} failed`);
}

function ask(command, words) {
  return spawnSync(command, words, { cwd: root, encoding: "utf8" }).stdout.trim();
}

function main(words) {
  const version =
    words.find((word, index) => !word.startsWith("--") && words[index - 1] !== "--date") ?? "";
  const isDry = words.includes("--dry-run");
  const at = words.indexOf("--date");
  const date = at === -1 ? new Date().toISOString().slice(0, 10) : (words[at + 1] ?? "");
  if (!VERSION.test(version) || !/^\d{4}-\d{2}-\d{2}$/u.test(date)) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
    return;
  }
  const { before, changes } = releaseChanges(version, date);
  if (!isLater(version, before)) throw new Error(`${version} is not later than ${before}`);
  const tag = `v${version}`;
  if (isDry) {
    for (const path of changes.keys()) console.log(`would change ${path}`);
    console.log(`would commit "release: ${version}" and tag ${tag}`);
    return;
  }
  if (ask("git", ["status", "--porcelain"]) !== "") {
    throw new Error("the clone has changes. Fix: commit them, or start from a fresh clone");
  }
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (repository.url.includes(".example")) {
    throw new Error(
      "the address of the repository is a placeholder. Fix: npm pkg set repository.url=git+https://…, and set the address of the docs in packages/core/src/text/documentation.ts",
    );
  }
  if (ask("git", ["tag", "--list", tag]) !== "") throw new Error(`${tag} exists`);
  for (const [path, text] of changes) writeFileSync(join(root, path), text);
  run("npm", ["run", "check"]);
  if (!words.includes("--skip-tests")) run("npm", ["test"]);
  run("git", ["add", "--", ...changes.keys()]);
  run("git", ["commit", "--quiet", "--message", `release: ${version}`]);
  run("git", ["tag", "--annotate", tag, "--message", `Countersign ${version}`]);
  console.log(`Next: git push --follow-tags, which starts the publish workflow for ${tag}`);
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    console.error(`release: ${error.message}`);
    process.exitCode = 1;
  }
}
