import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, test } from "vitest";

// The promise to an auditor: the verifier has no code to sign, to store or to access a disk.
const bundle = await build({
  entryPoints: [fileURLToPath(new URL("./index.ts", import.meta.url))],
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: "esm",
  platform: "browser",
  conditions: ["source"],
  logLevel: "silent",
});
const inputs = Object.keys(bundle.metafile.inputs);

test("no signing, storage or node: module is reachable from ./verify", () => {
  expect(inputs.length).toBeGreaterThan(20);
  const forbidden = inputs.filter((path) =>
    /node:|\/sign|sign-|\/(log|sqlite|postgres|store|export|bundles|query|testing)\/|-node\.ts/.test(
      path,
    ),
  );
  // The path of the module `verify/export.ts` ends in export; it is not in export/.
  expect(forbidden.filter((path) => !path.endsWith("verify/signature.ts"))).toEqual([]);
  const imports = Object.values(bundle.metafile.inputs).flatMap((input) => input.imports);
  expect(imports.filter(({ external }) => external === true)).toEqual([]);
});

test("./verify stays below 24 KB compressed", () => {
  const size = gzipSync(bundle.outputFiles[0]!.contents, { level: 9 }).length;
  console.info(`@countersign/receipts/verify: ${size} bytes gzip`);
  expect(size).toBeLessThan(24_000);
});
