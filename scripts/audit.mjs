// A known vulnerability in what users install should stop a submission: npm's advisories, for dependencies of the published packages.
// Some machines reach the registry but not its advisories; then one line says so, and nothing else is held up.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { root } from "./sources.mjs";

const USAGE = `usage: npm run audit

Asks the npm registry for advisories about the dependencies of the published packages, development ones left out.
Exit: 0 none of high or critical severity, or the registry gives no advisories; 1 some.
`;
const SEVERE = new Set(["high", "critical"]);

/** What a report of \`npm audit --json\` means: severe advisories by package, or why there is no answer. */
export function readAudit(text) {
  let report;
  try {
    report = JSON.parse(text);
  } catch {
    return { reason: "npm printed no report" };
  }
  if (report.vulnerabilities === undefined) {
    const { error, message } = report;
    return { reason: message ?? error?.summary ?? "the registry gave no advisories" };
  }
  const found = Object.values(report.vulnerabilities)
    .filter(({ severity }) => SEVERE.has(severity))
    .map(({ name, severity, range, via }) => {
      const titles = via
        .filter((one) => typeof one === "object")
        .map(({ title, url }) => `${title} (${url})`);
      return `${name} ${range}: ${severity}${titles.length > 0 ? `: ${titles.join("; ")}` : ""}`;
    });
  return { found, total: Object.keys(report.vulnerabilities).length };
}

function main() {
  if (process.argv.includes("--help")) {
    process.stdout.write(USAGE);
    return 0;
  }
  const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json"], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, npm_config_fetch_retries: "0", npm_config_fetch_timeout: "20000" },
  });
  const { reason, found = [], total } = readAudit(stdout ?? "");
  if (reason !== undefined) {
    const [line] = String(reason).split("\n");
    process.stdout.write(
      `audit: no advisories were checked, the registry does not give them here (${line})\n`,
    );
    return 0;
  }
  for (const line of found) process.stderr.write(`audit: ${line}\n`);
  process.stdout.write(
    `audit: ${found.length} high or critical, ${total} vulnerable packages altogether\n`,
  );
  return found.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = main();
}
