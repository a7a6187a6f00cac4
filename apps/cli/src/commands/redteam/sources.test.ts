import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadDocuments, readSources } from "./sources.js";

test.skipIf(process.platform === "win32")(
  "of a folder only files are read: a pipe or a link to a device has no end",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "countersign-sources-"));
    try {
      writeFileSync(join(folder, "a.yaml"), "oatf: x\n");
      execFileSync("mkfifo", [join(folder, "b.yaml")]);
      symlinkSync("/dev/zero", join(folder, "c.yaml"));
      symlinkSync("nowhere", join(folder, "d.yaml"));
      expect(readSources([folder])).toEqual([{ name: join(folder, "a.yaml"), text: "oatf: x\n" }]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test("a word with a minus leaves documents out", () => {
  const ids = (filter: string): string[] => loadDocuments([], filter).map(({ name }) => name);
  const all = loadDocuments([], undefined).length;
  const servers = ids("tag:mcp-server,tag:a2a-server");
  const others = ids("-tag:mcp-server,-tag:a2a-server");
  expect([servers.length + others.length, servers.length > 0]).toEqual([all, true]);
  expect(others.some((name) => servers.includes(name))).toBe(false);
  expect(ids("agui-06,-agui-069").filter((name) => name.includes("069"))).toEqual([]);
});

test("an empty word of a filter selects nothing", () => {
  const count = (filter: string): number => loadDocuments([], filter).length;
  expect([count(""), count(" , "), count("agui-001,"), count("agui-001")]).toEqual([0, 0, 1, 1]);
});
