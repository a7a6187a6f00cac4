/**
 * Receipts appended to PostgreSQL beside a plain table of the same rows, by turns in one run:
 * one gateway's log, two that share a log, and the same of another checkout.
 *
 * npm run bench -- postgres [--beside CHECKOUT] [--rounds N] [--entries N] [--sign each]
 */
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { startPostgres } from "@countersign/testkit";
import { openPlainTable, sampleRows } from "./postgres/plain-table.js";
import { serverMicroseconds } from "./postgres/server-time.js";
import type { AppendReply, AppendRequest } from "./postgres/writer.js";
import { median } from "./statistics.js";

const args = process.argv.slice(2);
const valueOf = (flag: string): string | undefined =>
  args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
const rounds = Number(valueOf("--rounds") ?? 5);
const entries = Number(valueOf("--entries") ?? 60_000);
const mode = valueOf("--sign") === "each" ? "each" : "batch";
const beside = valueOf("--beside");
const only = valueOf("--only")?.split(",");
/** Entries under way, and in a call: streams whose events arrive together. */
const UNDER = Number(valueOf("--under") ?? 4_000);
const TOGETHER = 32;
const WARM = 20_000;

const own = fileURLToPath(new URL("../../", import.meta.url));
if (beside !== undefined && !existsSync(join(beside, "packages/receipts/dist/log/index.js"))) {
  process.stderr.write(`postgres: ${beside} is not a built checkout\n`);
  process.exit(2);
}

type Turn = {
  readonly rate: number;
  readonly client: number;
  readonly loop: number;
  readonly wait: number;
};
type Variant = {
  readonly name: string;
  turn(): Promise<Turn>;
  close(): Promise<unknown>;
};

const database = await startPostgres({ settings: { fsync: "on", max_wal_size: "4GB" } });

async function startWriter(checkout: string, log: string) {
  const file = fileURLToPath(new URL("./postgres/writer.js", import.meta.url));
  const child = fork(file, [checkout, database.url, log, mode], { execArgv: [] });
  const answer = <Value>(): Promise<Value> =>
    new Promise((done, fail) => {
      const ended = (code: number | null): void => fail(new Error(`a writer ended with ${code}`));
      child.once("exit", ended);
      child.once("message", (value) => {
        child.off("exit", ended);
        done(value as Value);
      });
    });
  await answer();
  return {
    append: (request: AppendRequest): Promise<AppendReply> => {
      child.send(request);
      return answer();
    },
    close: async () => {
      child.send("close");
      await new Promise((done) => child.once("exit", done));
    },
  };
}

async function writersOf(
  name: string,
  checkout: string,
  count: number,
  runs = 1,
): Promise<Variant> {
  const writers = await Promise.all(
    Array.from({ length: count }, () => startWriter(checkout, name)),
  );
  const request = (all: number): AppendRequest => ({
    entries: Math.ceil(all / count),
    together: TOGETHER,
    under: Math.ceil(UNDER / count),
    runs,
  });
  for (const writer of writers) await writer.append(request(WARM));
  return {
    name,
    async turn() {
      const start = performance.now();
      const replies = await Promise.all(writers.map((one) => one.append(request(entries))));
      const seconds = (performance.now() - start) / 1_000;
      return {
        rate: entries / seconds,
        client: median(replies.map((one) => one.microseconds)),
        loop: median(replies.map((one) => one.loop)),
        wait: median(replies.map((one) => one.wait)),
      };
    },
    close: () => Promise.all(writers.map((writer) => writer.close())),
  };
}

async function plain(name: string, how: "unnest" | "copy"): Promise<Variant> {
  const rows = sampleRows(entries);
  const table = await openPlainTable(database.url, how);
  return {
    name,
    async turn() {
      const cpu = process.cpuUsage();
      const start = performance.now();
      await table.insert(rows);
      const seconds = (performance.now() - start) / 1_000;
      const used = process.cpuUsage(cpu);
      return {
        rate: rows.length / seconds,
        client: (used.user + used.system) / rows.length,
        loop: Number.NaN,
        wait: Number.NaN,
      };
    },
    close: () => table.close(),
  };
}

const all: [string, () => Promise<Variant>][] = [
  ["plain insert", () => plain("plain insert", "unnest")],
  ["plain copy", () => plain("plain copy", "copy")],
  ["one gateway", () => writersOf("one gateway", own, 1)],
  ["two gateways", () => writersOf("two gateways", own, 2)],
  ["one gateway: 256 runs", () => writersOf("one gateway: 256 runs", own, 1, 256)],
];
if (beside !== undefined) {
  all.push(["beside: one gateway", () => writersOf("beside: one gateway", resolve(beside), 1)]);
  all.push(["beside: two gateways", () => writersOf("beside: two gateways", resolve(beside), 2)]);
  all.push(["beside: 256 runs", () => writersOf("beside: 256 runs", resolve(beside), 1, 256)]);
}

const found = new Map<string, (Turn & { readonly server: number })[]>();
const variants: Variant[] = [];
try {
  for (const [name, start] of all) {
    if (only === undefined || only.includes(name)) variants.push(await start());
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      const before = serverMicroseconds(database.pid());
      const turn = await variant.turn();
      const server = (serverMicroseconds(database.pid()) - before) / entries;
      found.set(variant.name, [...(found.get(variant.name) ?? []), { ...turn, server }]);
    }
  }
} finally {
  for (const variant of variants) await variant.close();
  await database.stop();
}

const shown = (value: number): string => (Number.isNaN(value) ? "" : value.toFixed(1));
const plainRates = (found.get("plain insert") ?? []).map(({ rate }) => rate);
const lines = [...found].map(([name, turns]) => {
  const of = (read: (turn: (typeof turns)[number]) => number): number => median(turns.map(read));
  const ratio = median(turns.map(({ rate }, at) => rate / (plainRates[at] ?? Number.NaN)));
  const rates = turns.map(({ rate }) => Math.round(rate));
  const cells = [
    name,
    Math.round(of(({ rate }) => rate)).toLocaleString("en"),
    `${Math.min(...rates).toLocaleString("en")}–${Math.max(...rates).toLocaleString("en")}`,
    Number.isNaN(ratio) ? "" : `${ratio.toFixed(2)}×`,
    shown(of(({ client }) => client)),
    shown(of(({ loop }) => loop)),
    shown(of(({ server }) => server)),
    shown(of(({ wait }) => wait)),
  ];
  return `| ${cells.join(" | ")} |`;
});
const table = [
  "| what | entries/s | least–greatest | to the plain insert | µs of the gateway | of its event loop | µs of the server | ms of a call |",
  "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  ...lines,
].join("\n");
process.stdout.write(`${table}\n`);
if (only === undefined && beside === undefined && mode === "batch") {
  const results = new URL("../results/", import.meta.url);
  await mkdir(results, { recursive: true });
  const heading = `# Receipts in PostgreSQL\n\n\`npm run bench -- postgres\`: ${entries.toLocaleString("en")} entries a turn, ${rounds} turns, ${UNDER.toLocaleString("en")} under way, ${TOGETHER} in a call, \`sign: batch\`, \`durability: strict\`, fsync on, Node ${process.version}. The processor time is that of one entry, of all threads and processes.\n\n`;
  await writeFile(new URL("postgres.md", results), `${heading}${table}\n`);
  const json = JSON.stringify(Object.fromEntries(found), undefined, 2);
  await writeFile(new URL("postgres.json", results), `${json}\n`);
}
