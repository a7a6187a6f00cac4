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

test("an empty word of a filter selects nothing", () => {
  const count = (filter: string): number => loadDocuments([], filter).length;
  expect([count(""), count(" , "), count("agui-001,"), count("agui-001")]).toEqual([0, 0, 1, 1]);
});
