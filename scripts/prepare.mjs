// Makes a plain clone ready: installs packages, builds, and brings what the tests need from the system.
// Runs before `npm start` and `npm test`, so it uses Node built-ins alone and is quick when nothing is missing.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const purpose = process.argv[2] ?? "start";

/** Programs of the system that tests drive: looked for first, installed by apt where that is possible. */
const SYSTEM_NEEDS = [
  { program: "chromium", apt: ["chromium"], why: "browser tests" },
  { program: "openssl", apt: ["openssl"], why: "certificates for TLS tests" },
  {
    program: "go",
    apt: ["golang-go", "golang-golang-x-mod-dev"],
    why: "an auditor around Go's own log packages",
  },
  { program: "python3", apt: ["python3"], why: "an auditor of statements without our code" },
  { program: "redis-server", apt: ["redis-server"], why: "gateways that share Redis" },
  { program: "faketime", apt: ["faketime"], why: "clock jumps" },
  { program: "systemd-analyze", apt: ["systemd"], why: "a linter of the unit file" },
];

function say(text) {
  process.stdout.write(`prepare: ${text}\n`);
}

function fail(text) {
  process.stderr.write(`prepare: ${text}\n`);
  process.exit(1);
}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  return result.status === 0;
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(
      `Node ${process.versions.node} is too old; install Node 20.19 or newer and run the command again.`,
    );
  }
}

function installPackages() {
  const installed = join(root, "node_modules", ".package-lock.json");
  const lock = join(root, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  say("installing packages (npm ci)");
  if (!run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"])) {
    fail("npm ci failed; the lines above say why.");
  }
}

function build() {
  const started = performance.now();
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  if (!run(process.execPath, [tsc, "-b"])) fail("the build failed; the lines above say where.");
  const page = join(root, "apps", "console", "build.mjs");
  if (!run(process.execPath, [page]))
    fail("the console could not be built; the lines above say why.");
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  say(`built in ${seconds} s`);
}

function isOnPath(program) {
  return (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, program)));
}

function isDebianRoot() {
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) return false;
  return isOnPath("apt-get");
}

function installSystemNeeds() {
  const missing = SYSTEM_NEEDS.filter((need) => !isOnPath(need.program));
  if (missing.length === 0) return;
  const names = missing.map((need) => need.program).join(", ");
  if (!isDebianRoot()) {
    say(`missing from the system: ${names}; the tests that need them say so and are skipped.`);
    return;
  }
  say(`installing from Debian: ${names}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const quiet = { env, stdio: ["ignore", "ignore", "inherit"] };
  run("apt-get", ["update", "-qq"], quiet);
  const packages = missing.flatMap((need) => need.apt);
  if (!run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], quiet)) {
    say(`apt-get could not install ${names}; the tests that need them say so and are skipped.`);
  }
}

requireNode();
if (!existsSync(join(root, "package-lock.json")))
  fail("package-lock.json is missing: run from a complete clone.");
JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
installPackages();
build();
if (purpose === "test") installSystemNeeds();
