// The step of action.yml: runs the attacks, compares the policies, and writes a Markdown summary.
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The repository that the action is in. */
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** Changes of a policy that the summary lists. */
const MOST_CHANGES = 100;

/** Runs the step. Everything it depends on is passed in, so that a test needs no GitHub. */
export function runAction(environment, { cwd = process.cwd(), run = spawnSync } = {}) {
  const input = (name) => (environment[`INPUT_${name}`] ?? "").trim();
  const lines = (name) =>
    input(name)
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
  const given = input("COMMAND").split(/\s+/).filter(Boolean);
  const [command, ...first] = given.length > 0 ? given : ownCommand(run);
  const report = input("REPORT") || "countersign-report";
  const folder = isAbsolute(report) ? report : join(cwd, report);
  const summary = [];
  const say = (text) => process.stdout.write(`${text}\n`);
  const countersign = (words) => {
    say(`countersign ${words.slice(0, 2).join(" ")}`);
    const done = run(command, [...first, ...words], {
      cwd,
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (done.stderr) process.stderr.write(done.stderr);
    return { code: done.status ?? 2, out: done.stdout ?? "", problem: done.error?.message };
  };
  /** Says why a command gave no result; its own words are on the log. */
  const failed = (title, { code, problem }) => [
    `## ${title}`,
    "",
    `The command failed with exit code ${code}${problem === undefined ? "" : `: ${plain(problem)}`}. The log of the step says why.`,
    "",
  ];

  const redteam = () => {
    if (input("TARGET") === "") return undefined;
    mkdirSync(folder, { recursive: true });
    const file = (name) => join(folder, name);
    rmSync(file("redteam.md"), { force: true });
    const option = (flag, name) => (input(name) === "" ? [] : [flag, input(name)]);
    const done = countersign([
      "redteam",
      "run",
      ...lines("DOCUMENTS"),
      ...option("--target", "TARGET"),
      ...option("--through", "THROUGH"),
      ...option("--filter", "FILTER"),
      ...option("--servers-file", "SERVERS_FILE"),
      ...option("--servers-prop", "SERVERS_PROP"),
      ...option("--baseline", "BASELINE"),
      ...option("--repeat", "REPEAT"),
      ...lines("HEADERS").flatMap((line) => ["--header", line]),
      "--junit",
      file("redteam.xml"),
      "--sarif",
      file("redteam.sarif"),
      "--html",
      file("redteam.html"),
      "--markdown",
      file("redteam.md"),
      "--json",
    ]);
    if (existsSync(file("redteam.md"))) {
      writeFileSync(file("redteam.json"), done.out);
      summary.push(readFileSync(file("redteam.md"), "utf8"), ...changesSince(done.out));
    } else summary.push(...failed("Red team", done));
    return done.code;
  };

  const compare = () => {
    if (input("POLICY") === "") return undefined;
    let base = input("POLICY_BASE");
    let tree;
    try {
      if (base === "" && input("BASE_REF") !== "") {
        tree = join(mkdtempSync(join(tmpdir(), "countersign-base-")), "tree");
        const words = ["worktree", "add", "--detach", "--force", tree, input("BASE_REF")];
        const made = run("git", words, { cwd, encoding: "utf8" });
        if (made.status !== 0) {
          process.stderr.write(made.stderr ?? "");
          summary.push(...failed("Policy", { code: made.status ?? 2 }));
          return 2;
        }
        base = join(tree, input("POLICY"));
      }
      if (base === "") {
        throw new TypeError("policy needs policy-base or base-ref. Fix: set one of them");
      }
      const words = ["policy", "diff", base, input("POLICY"), "--fail-on", "looser", "--json"];
      const done = countersign(words);
      summary.push(...(describeDiff(done.out) ?? failed("Policy", done)));
      return done.code;
    } finally {
      if (tree !== undefined) run("git", ["worktree", "remove", "--force", tree], { cwd });
    }
  };

  const codes = { redteam: redteam(), policy: compare() };
  if (codes.redteam === undefined && codes.policy === undefined) {
    throw new TypeError("nothing to do. Fix: set target, or policy with policy-base or base-ref");
  }
  write(environment["GITHUB_STEP_SUMMARY"], `${summary.join("\n")}\n`);
  const outputs = { redteam: codes.redteam ?? "", policy: codes.policy ?? "", report: folder };
  write(
    environment["GITHUB_OUTPUT"],
    Object.entries(outputs)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(""),
  );
  for (const [name, code] of Object.entries(codes)) {
    if (code !== undefined) say(`${name}: exit code ${code}`);
  }
  return Object.values(codes).find((code) => code !== undefined && code !== 0) ?? 0;
}

/**
 * The command of the repository that the action is in, so that the version in `uses` is the version that runs, and no
 * package of that name from elsewhere. The first use installs and builds it.
 */
function ownCommand(run) {
  const prepare = join(ROOT, "scripts", "prepare.mjs");
  const done = run(process.execPath, [prepare, "start"], { cwd: ROOT, stdio: "inherit" });
  if (done.status !== 0) {
    throw new Error(
      "the action could not install and build countersign. Fix: read the log above, or set command to an installed one",
    );
  }
  return [process.execPath, join(ROOT, "apps", "cli", "dist", "main.js")];
}

function write(file, text) {
  if (file !== undefined && file !== "") appendFileSync(file, text);
}

/** Results that differ from the baseline. */
function changesSince(json) {
  const { comparisons } = readJson(json) ?? {};
  if (!Array.isArray(comparisons)) return [];
  const changed = comparisons.filter(({ change }) => change !== "same");
  const rows = changed
    .slice(0, MOST_CHANGES)
    .map(
      ({ id, change, before, now }) =>
        `| ${[id, change, before ?? "", now].map(plain).join(" | ")} |`,
    );
  if (rows.length === 0) return ["Nothing changed since the baseline.", ""];
  return [
    "### Since the baseline",
    "",
    "| id | change | before | now |",
    "|---|---|---|---|",
    ...rows,
    "",
  ];
}

/** The comparison of two policies as Markdown; `undefined` if the text is not one. */
function describeDiff(json) {
  const { verdict, blocks } = readJson(json) ?? {};
  if (typeof verdict !== "string" || !Array.isArray(blocks)) return undefined;
  const rows = blocks.flatMap(({ block, changes }) =>
    changes.map(
      ({ setting, effect, says }) => `| ${[effect, block, setting, says].map(plain).join(" | ")} |`,
    ),
  );
  const left = rows.length - MOST_CHANGES;
  return [
    "## Policy",
    "",
    `Compared with the policy before, this one is: **${plain(verdict)}**.`,
    "",
    ...(rows.length === 0
      ? []
      : [
          "| effect | block | setting | change |",
          "|---|---|---|---|",
          ...rows.slice(0, MOST_CHANGES),
          "",
        ]),
    ...(left > 0 ? [`${left} more changes: run \`countersign policy diff\`.`, ""] : []),
  ];
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Everything that Markdown interprets within a line, the start of an address, and mentions.
const MARKS = /[\\`*_{}[\]<>#|!~&$@+]|(?<=:)\/\/|(?<=www)\./giu;

/** Text that Markdown shows as it is: no markup, no link, no mention. */
function plain(value) {
  const entities = (text) => [...text].map((one) => `&#${one.codePointAt(0)};`).join("");
  return String(value ?? "")
    .slice(0, 400)
    .replaceAll(/\s+/g, " ")
    .replaceAll(MARKS, entities);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    process.exitCode = runAction(process.env);
  } catch (error) {
    process.stderr.write(`countersign action: ${error.message}\n`);
    process.exitCode = 2;
  }
}
