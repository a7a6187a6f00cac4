import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const source = fileURLToPath(new URL("..", import.meta.url));

/**
 * Compiles one source file with its imports, so that worker threads and child processes of a test
 * run the current code and not the last build.
 */
export async function bundleForNode(file: string): Promise<URL> {
  const directory = join(source, "../node_modules/.countersign-test");
  await mkdir(directory, { recursive: true });
  const out = join(
    directory,
    `${file.replaceAll("/", "-").replace(/\.ts$/, "")}-${process.pid}.mjs`,
  );
  await build({
    entryPoints: [join(source, file)],
    outfile: out,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@countersign/source", "node"],
    external: ["sodium-native", "@photostructure/sqlite", "pg", "node:*"],
    logLevel: "error",
  });
  return pathToFileURL(out);
}
