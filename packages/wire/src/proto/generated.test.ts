import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const here = dirname(fileURLToPath(import.meta.url));
const generated = join(here, "generated");
const packageFolder = join(here, "..", "..");

test("the committed code is what the schema generates", async () => {
  const require = createRequire(import.meta.url);
  const buf = join(dirname(require.resolve("@bufbuild/buf/package.json")), "bin", "buf");
  const binaries = join(packageFolder, "..", "..", "node_modules", ".bin");
  const output = await mkdtemp(join(tmpdir(), "countersign-proto-"));
  try {
    await promisify(execFile)(process.execPath, [buf, "generate", "--output", output], {
      cwd: packageFolder,
      env: { ...process.env, PATH: `${binaries}${delimiter}${process.env["PATH"] ?? ""}` },
    });
    const fresh = join(output, "src", "proto", "generated");
    const names = await readdir(fresh);
    expect(names.sort()).toEqual((await readdir(generated)).sort());
    for (const name of names) {
      const [made, committed] = await Promise.all(
        [fresh, generated].map((folder) => readFile(join(folder, name), "utf8")),
      );
      expect(made === committed, `${name}: run npm run generate:proto -w packages/wire`).toBe(true);
    }
  } finally {
    await rm(output, { recursive: true });
  }
});
