import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("the browser bundle that checks receipts has no signing or disk code and stays below 9 KB", async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL("./index.ts", import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    conditions: ["@countersign/source"],
    logLevel: "silent",
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.filter((path) => /\/(sign|log|store|sqlite|export)\//.test(path))).toEqual([]);
  const size = gzipSync(outputFiles[0]?.contents ?? new Uint8Array(), { level: 9 }).length;
  console.info(`@countersign/receipts/stream: ${size} bytes gzip`);
  expect(size).toBeLessThan(9_000);
});
