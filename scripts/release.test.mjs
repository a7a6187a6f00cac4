import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { signChecksums, writeChecksums } from "./checksums.mjs";
import { publishedPackages } from "./pack.mjs";
import { isLater, releaseChanges } from "./release.mjs";
import { filesBelow, read, root } from "./sources.mjs";

const folder = mkdtempSync(join(tmpdir(), "countersign-release-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const { before, changes } = releaseChanges("98.76.54", "2027-01-02");

test("every package, and every package that names it, has the new version exactly", () => {
  const manifests = [...changes].filter(([path]) => path.endsWith("package.json"));
  expect(manifests.length).toBeGreaterThan(15);
  for (const [path, text] of manifests) {
    const { version, ...manifest } = JSON.parse(text);
    expect(version ?? "98.76.54", path).toBe("98.76.54");
    const named = Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.peerDependencies,
    });
    const own = named.filter(([name]) => /^@countersign\/|^countersign$/u.test(name));
    expect(
      own.filter(([, range]) => range !== "98.76.54"),
      path,
    ).toEqual([]);
  }
});

test("no other file of the product still names the old version", () => {
  const old = before.replaceAll(".", "\\.");
  const mention = new RegExp(`countersign[:@]${old}\\b|[vV]ersion: ${old}$`, "mu");
  const accepts = (name) => /\.(?:ts|mjs|ya?ml|json|md|service)$|Dockerfile/u.test(name);
  const files = ["packages", "apps", "deploy", "scripts", "docs", "examples"].flatMap((one) =>
    filesBelow(one, accepts),
  );
  const kept = [...files, "action.yml", "README.md"].filter((path) =>
    mention.test(changes.get(path) ?? read(path)),
  );
  expect(kept).toEqual([]);
});

test("the lock file keeps everything but the versions of our own packages", () => {
  const [old, next] = [read("package-lock.json"), changes.get("package-lock.json")].map(
    (text) => JSON.parse(text).packages,
  );
  expect(Object.keys(next)).toEqual(Object.keys(old));
  const foreign = (packages) =>
    Object.entries(packages).filter(([path]) => path.includes("node_modules/"));
  expect(foreign(next)).toEqual(foreign(old));
  expect(next["apps/cli"]).toMatchObject({ version: "98.76.54" });
});

test("the changes get their heading below an empty Unreleased, and a release without changes is refused", () => {
  const text = changes.get("CHANGELOG.md");
  expect(text).toMatch(/^# Changelog\n\n## Unreleased\n\n## 98\.76\.54 \(2027-01-02\)\n\n/u);
  expect(text.length).toBe(read("CHANGELOG.md").length + "## 98.76.54 (2027-01-02)\n\n".length);
  const again = (path) => (path === "CHANGELOG.md" ? text : read(path));
  expect(() => releaseChanges("99.0.0", "2027-01-02", again)).toThrow(
    "no changes under Unreleased",
  );
});

test.each([
  ["0.2.0", "0.1.0", true],
  ["0.10.0", "0.9.9", true],
  ["1.0.0", "1.0.0-rc.1", true],
  ["0.1.0", "0.1.0", false],
  ["0.1.0", "0.2.0", false],
  ["1.0.0-rc.1", "1.0.0", false],
])("%s after %s: %s", (version, old, later) => expect(isLater(version, old)).toBe(later));

test("a dry run names the files and changes none; a wrong version prints the usage", () => {
  const run = (...words) =>
    spawnSync(process.execPath, [join(root, "scripts/release.mjs"), ...words], {
      encoding: "utf8",
    });
  const state = () =>
    spawnSync("git", ["status", "--porcelain"], { cwd: root, encoding: "utf8" }).stdout;
  const untouched = state();
  const dry = run("98.76.54", "--dry-run");
  expect(dry).toMatchObject({ status: 0, stderr: "" });
  for (const path of changes.keys()) expect(dry.stdout).toContain(`would change ${path}\n`);
  expect(dry.stdout).toContain("tag v98.76.54");
  expect(state()).toBe(untouched);
  expect(run("next")).toMatchObject({ status: 2, stderr: expect.stringContaining("usage:") });
  expect(run("0.0.1", "--dry-run")).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("not later"),
  });
});

const hasSsh = spawnSync("ssh-keygen", ["-?"]).error === undefined;

test("checksums are those of sha256sum, and ssh-keygen verifies their signature", (context) => {
  writeFileSync(join(folder, "a.tgz"), "a");
  writeFileSync(join(folder, "b.tgz"), "b");
  expect(writeChecksums(folder)).toEqual(["a.tgz", "b.tgz"]);
  const checked = spawnSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder });
  expect(checked.status).toBe(0);
  if (!hasSsh) context.skip("ssh-keygen is not installed: the signature was not tested");
  const keys = mkdtempSync(join(tmpdir(), "countersign-release-key-"));
  try {
    const key = join(keys, "key");
    spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
    const signers = join(keys, "allowed_signers");
    writeFileSync(signers, `release@countersign ${readFileSync(`${key}.pub`, "utf8")}`);
    signChecksums(folder, key);
    const verify = (text) =>
      spawnSync(
        "ssh-keygen",
        [
          "-Y",
          "verify",
          "-f",
          signers,
          "-I",
          "release@countersign",
          "-n",
          "file",
          "-s",
          join(folder, "SHA256SUMS.sig"),
        ],
        { input: text },
      ).status;
    const sums = readFileSync(join(folder, "SHA256SUMS"), "utf8");
    expect(verify(sums)).toBe(0);
    expect(verify(sums.replace(/^./u, (digit) => (digit === "0" ? "1" : "0")))).not.toBe(0);
  } finally {
    rmSync(keys, { recursive: true });
  }
});

test("every published package names the repository of the root and its folder, and is public with provenance", () => {
  const { url } = JSON.parse(read("package.json")).repository;
  for (const { folder: directory, manifest } of publishedPackages()) {
    expect(manifest.repository, directory).toEqual({ type: "git", url, directory });
    expect(manifest.publishConfig, directory).toEqual({ access: "public", provenance: true });
  }
  // One host for the repository and the docs, a placeholder until there is a public one.
  const [, host] =
    /"https:\/\/([\w.]+)\/docs\/"/u.exec(read("packages/core/src/text/documentation.ts")) ?? [];
  expect(new URL(url.slice("git+".length)).host).toBe(host);
});

test("workflows pin every action to a commit and grant no more than they need", () => {
  for (const name of ["ci.yml", "release.yml"]) {
    const text = read(`.github/workflows/${name}`);
    const used = [...text.matchAll(/uses: (\S+)/gu)].map(([, action]) => action);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/u);
    expect(text).toMatch(/^permissions:\n {2}contents: read\n/mu);
    expect(text).not.toMatch(/pull_request_target|\$\{\{ github\.event\./u);
  }
  const release = read(".github/workflows/release.yml");
  expect(release).toContain("id-token: write");
  expect(release).toContain("npm publish");
});
