import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

/** The download of a page for a list of entries, minified and compressed, without React itself. */
async function gzipped(...entries: readonly string[]): Promise<number> {
  const { outputFiles } = await build({
    stdin: {
      contents: entries.map((entry) => `export * from "${entry}";`).join("\n"),
      resolveDir: fileURLToPath(new URL(".", import.meta.url)),
    },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["@countersign/source"],
    external: ["react"],
    logLevel: "error",
  });
  return gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length;
}

test("everything in client and react together stays under 25 KB", async () => {
  const size = await gzipped("@countersign/client", "@countersign/react");
  console.log(`client + react: ${size.toLocaleString("en")} bytes gzip`);
  expect(size).toBeLessThan(25_000);
});
