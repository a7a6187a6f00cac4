// Whoever runs the gateway must be able to say what is in it: a CycloneDX list of every package that the command installs.
// It follows from package-lock.json alone, so that one lock file gives one document. `npm sbom --omit dev` leaves out what is also a
// development dependency of another workspace (ws, yaml, ajv), and names workspaces after their folders.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { read } from "./sources.mjs";

const USAGE = `usage: npm run sbom [-- --output FILE]

Writes the packages that the command installs as CycloneDX 1.5 JSON, development dependencies left out.
FILE is dist/sbom.cdx.json unless told otherwise; - prints the document.

Example: npm run sbom -- --output countersign-0.1.0.cdx.json
`;
const APPLICATION = "apps/cli";

/** Where Node finds a package from a folder: in its own node_modules, or in that of a folder above. */
function locate(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const path = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    const found = packages[path];
    if (found !== undefined) return found.link === true ? found.resolved : path;
    if (folder === "") return undefined;
  }
}

function nameOf(path, { name }) {
  return name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

function componentOf(path, entry, isRequired) {
  const name = nameOf(path, entry);
  const [, hash] = /^sha512-(.+)$/u.exec(entry.integrity ?? "") ?? [];
  const { license } = entry;
  const isOneLicense = /^[\w.+-]+$/u.test(license ?? "");
  return {
    type: path === APPLICATION ? "application" : "library",
    "bom-ref": `${name}@${entry.version}`,
    name,
    version: entry.version,
    scope: isRequired ? "required" : "optional",
    ...(hash === undefined
      ? {}
      : { hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }] }),
    ...(license === undefined
      ? {}
      : { licenses: [isOneLicense ? { license: { id: license } } : { expression: license }] }),
    purl: `pkg:npm/${name.replace("@", "%40")}@${entry.version}`,
  };
}

/** The document of a lock file: what the command installs, in the order of names. */
export function createSbom(lock) {
  const { packages } = lock;
  const found = new Map();
  const edges = new Map();
  const visit = (path, isRequired) => {
    const known = found.get(path);
    if (known === true || known === isRequired) return;
    found.set(path, isRequired);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[path];
    const follow = (names, required) =>
      Object.keys(names).flatMap((name) => {
        const target = locate(packages, path, name);
        // What is optional may be left out of a lock file made elsewhere.
        if (target === undefined) return [];
        visit(target, required);
        return [target];
      });
    edges.set(path, [
      ...follow(dependencies, isRequired),
      ...follow(optionalDependencies, false),
      ...follow(peerDependencies, false),
    ]);
  };
  visit(APPLICATION, true);
  const refOf = (path) => `${nameOf(path, packages[path])}@${packages[path].version}`;
  const byRef = (one, other) => (one < other ? -1 : Number(one > other));
  // One package may be installed in two places; it is one component.
  const parts = new Map();
  for (const [path, isRequired] of found) {
    const ref = refOf(path);
    const isNeeded = isRequired || parts.get(ref)?.scope === "required";
    parts.set(ref, componentOf(path, packages[path], isNeeded));
  }
  const targets = new Map();
  for (const [path, list] of edges) {
    targets.set(refOf(path), [...(targets.get(refOf(path)) ?? []), ...list.map(refOf)]);
  }
  const refs = [...parts.keys()].sort(byRef);
  const own = refOf(APPLICATION);
  const content = {
    version: 1,
    metadata: { component: parts.get(own) },
    components: refs.filter((ref) => ref !== own).map((ref) => parts.get(ref)),
    dependencies: refs.map((ref) => ({
      ref,
      dependsOn: [...new Set(targets.get(ref))].sort(byRef),
    })),
  };
  // A serial number that follows from the content (UUID version 8: its meaning is ours to say).
  const hash = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  const uuid = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    serialNumber: `urn:uuid:${uuid}`,
    ...content,
  };
}

function main() {
  const given = process.argv.slice(2);
  if (given.includes("--help")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const flag = given.indexOf("--output");
  const output = flag === -1 ? join("dist", "sbom.cdx.json") : given[flag + 1];
  if (output === undefined || given.length > (flag === -1 ? 0 : 2)) {
    process.stderr.write("sbom: only --output FILE is understood; see --help\n");
    return 2;
  }
  const document = createSbom(JSON.parse(read("package-lock.json")));
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  if (output === "-") process.stdout.write(text);
  else {
    const file = resolve(output);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`sbom: ${document.components.length} packages in ${output}\n`);
  }
  return 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main();
