import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { start } from "./start.js";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "ledger-start-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function begin(environment: Record<string, string>) {
  const out: string[] = [];
  const err: string[] = [];
  const running = await start(environment, {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
  });
  return { running, out, err };
}

test("an agent that starts tells its address and its ledger", async () => {
  const path = join(folder, "good.sqlite");
  const { running, out, err } = await begin({ LEDGER: path, PORT: "0" });
  expect(out[0]).toBe(`ledger-agent: ${running?.url} writes ${path}`);
  expect(err).toEqual([]);
  expect(await (await fetch(`${running?.url}ping`)).json()).toEqual({ status: "Healthy" });
  await running?.stop();
});

test("a port that is taken is told in one line", async () => {
  const first = await begin({ LEDGER: join(folder, "first.sqlite"), PORT: "0" });
  const port = new URL(first.running?.url ?? "").port;
  const second = await begin({ LEDGER: join(folder, "second.sqlite"), PORT: port });
  expect(second).toEqual({
    running: undefined,
    out: [],
    err: [`ledger-agent: cannot listen on port ${port}: it is taken; choose another with PORT`],
  });
  await first.running?.stop();
});

test.each(["", "abc", "-1", "1.5", "0x50", "65536", "99999"])(
  "PORT=%s is told in one line, and no ledger is made",
  async (port) => {
    const { running, err } = await begin({ LEDGER: join(folder, "never.sqlite"), PORT: port });
    expect(running).toBeUndefined();
    expect(err).toEqual([`ledger-agent: PORT must be a number from 0 to 65535, not "${port}"`]);
    expect(await readdir(folder)).not.toContain("never.sqlite");
  },
);

test("a ledger that is not a database, does not exist or has no name gives one line", async () => {
  const other = join(folder, "notes.txt");
  await writeFile(other, "these are notes, and no database at all\n".repeat(100));
  for (const path of [other, join(folder, "no", "such", "ledger.sqlite"), folder]) {
    const { running, err } = await begin({ LEDGER: path, PORT: "0" });
    expect(running).toBeUndefined();
    expect(err).toEqual([
      expect.stringContaining(`ledger-agent: LEDGER=${path} cannot be opened: `),
    ]);
    expect(err[0]).not.toContain("\n");
  }
  expect((await begin({ LEDGER: "", PORT: "0" })).err).toEqual([
    "ledger-agent: LEDGER must name a file",
  ]);
});
