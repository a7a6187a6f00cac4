import { createHash, randomInt } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { startCoverage } from "./engine/coverage.js";
import { findFault, fuzz, shrink } from "./engine/loop.js";
import type { FuzzReport } from "./engine/loop.js";
import type { FuzzTarget } from "./engine/target.js";
import { seedsOf } from "./seeds.js";

const USAGE = `usage: npm run fuzz -- TARGET [--seconds N] [--seed N] [--json]
       npm run fuzz -- TARGET --input FILE
       npm run fuzz -- --list [--json]

Feeds a parser with mutated inputs, keeps those that reach new blocks of its code, and reports every input that violates
the property of the target. TARGET is a name of the list, or \`all\`.

  --seconds N    how long each target runs; 60 by default
  --seed N       start of the random numbers; a new one each time, printed
  --input FILE   run one file instead, to reproduce a finding
  --list         the targets and their properties
  --json         the report as one JSON object per line
  --help         this text

A finding is written to .cache/fuzz/TARGET. Exit: 0 no finding, 1 a finding, 2 wrong usage.

Example: npm run fuzz -- sse --seconds 120
`;

// Counted are the blocks of what is compiled from here on.
const coverage = startCoverage();
const { TARGETS } = await import("./targets/index.js");
const root = process.cwd();
const cache = join(root, ".cache", "fuzz");

function fail(text: string): never {
  process.stderr.write(`fuzz: ${text}\n`);
  process.exit(2);
}

function readFlags() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        seconds: { type: "string", default: "60" },
        seed: { type: "string" },
        input: { type: "string" },
        list: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}; see --help`);
  }
}

function chosenTargets(name: string | undefined): readonly FuzzTarget[] {
  if (name === undefined) fail("name a target, or all; `npm run fuzz -- --list` shows them");
  if (name === "all") return TARGETS;
  const found = TARGETS.find((target) => target.name === name);
  return found === undefined ? fail(`no target named ${name}; see --list`) : [found];
}

function wholeNumber(name: string, text: string, most: number): number {
  if (!/^\d{1,10}$/u.test(text) || Number(text) > most) {
    fail(`--${name} takes a whole number up to ${most}`);
  }
  return Number(text);
}

function nameOf(input: Uint8Array): string {
  return createHash("sha256").update(input).digest("hex").slice(0, 16);
}

/** Inputs that earlier runs kept: a run begins where the last one ended. */
function keptInputs(target: FuzzTarget): Uint8Array[] {
  const folder = join(cache, target.name, "corpus");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .map((name) => readFileSync(join(folder, name)));
}

function write(folder: string, name: string, input: Uint8Array): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, input);
  return relative(root, file);
}

async function replay(target: FuzzTarget, file: string, json: boolean): Promise<boolean> {
  if (!existsSync(file)) fail(`${file} does not exist`);
  const fault = await findFault(target, readFileSync(file));
  const text = fault === undefined ? "the property holds" : `violated: ${fault}`;
  const told = json
    ? JSON.stringify({ target: target.name, input: file, fault: fault ?? null })
    : `${target.name}: ${text}`;
  process.stdout.write(`${told}\n`);
  return fault === undefined;
}

async function runTarget(target: FuzzTarget, seconds: number, seed: number, json: boolean) {
  const ends = performance.now() + seconds * 1000;
  const shows = process.stderr.isTTY && !json;
  let shownAt = 0;
  const report = await fuzz(target, {
    seed,
    inputs: [...seedsOf(target, join(root, "fuzz", "seeds")), ...keptInputs(target)],
    coverage,
    isOver: () => performance.now() >= ends,
    onKept: (input) => write(join(cache, target.name, "corpus"), nameOf(input), input),
    onProgress({ inputs, corpus, features }) {
      const now = performance.now();
      if (!shows || now - shownAt < 500) return;
      shownAt = now;
      const left = Math.max(0, Math.ceil((ends - now) / 1000));
      process.stderr.write(
        `\r${target.name}: ${inputs} inputs, ${corpus} kept, ${features} features, ${left} s left  `,
      );
    },
  });
  if (shows) process.stderr.write("\r\u001B[K");
  return tell(target, report, seed, json);
}

async function tell(
  target: FuzzTarget,
  report: FuzzReport,
  seed: number,
  json: boolean,
): Promise<boolean> {
  const findings = [];
  for (const finding of report.findings) {
    const input = await shrink(target, finding);
    const file = write(join(cache, target.name), `finding-${nameOf(input)}`, input);
    findings.push({ file, reason: finding.reason });
  }
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...report, seed, findings })}\n`);
    return findings.length === 0;
  }
  const { inputs, corpus, features } = report;
  process.stdout.write(
    `${findings.length === 0 ? "ok    " : "FOUND "} ${target.name}: ${inputs} inputs, ${corpus} kept, ${features} features, seed ${seed}\n`,
  );
  for (const { file, reason } of findings) {
    process.stdout.write(
      `  ${reason}\n  Reproduce: npm run fuzz -- ${target.name} --input ${file}\n  After the fix, keep the file in fuzz/seeds/${target.name}.\n`,
    );
  }
  return findings.length === 0;
}

function list(json: boolean): void {
  for (const { name, property, covers } of TARGETS) {
    const line = json
      ? JSON.stringify({ name, property, covers })
      : `${name.padEnd(20)} ${property}`;
    process.stdout.write(`${line}\n`);
  }
}

async function main(): Promise<void> {
  const { values, positionals } = readFlags();
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  if (values.list) return list(values.json);
  if (positionals.length > 1) fail("one target at a time, or all");
  const targets = chosenTargets(positionals[0]);
  const seconds = wholeNumber("seconds", values.seconds, 86_400);
  const seed = wholeNumber("seed", values.seed ?? String(randomInt(2 ** 31)), 2 ** 32 - 1);
  const [only] = targets;
  if (values.input !== undefined && (targets.length > 1 || only === undefined)) {
    fail("--input needs one target");
  }
  let clean = true;
  for (const target of targets) {
    const held =
      values.input === undefined
        ? await runTarget(target, seconds, seed, values.json)
        : await replay(target, values.input, values.json);
    clean &&= held;
  }
  // A target may leave something behind that keeps the process alive.
  process.exit(clean ? 0 : 1);
}

await main();
