import { build } from "esbuild";
import { join } from "node:path";
import { compile } from "svelte/compiler";

const SOURCES = join(import.meta.dirname, "..");

/**
 * Compiles Svelte components together with the binding, as a page's bundler would.
 *
 * Vitest resolves Svelte to its server build, where reactivity does nothing; so the parts under test are
 * bundled under the condition of the side that they shall run on, and imported from there.
 */
export async function bundleFor<Exports>(
  side: "client" | "server",
  entry: string,
  components: Readonly<Record<string, string>>,
): Promise<Exports> {
  const { outputFiles } = await build({
    stdin: {
      contents: entry,
      resolveDir: SOURCES,
      loader: "ts",
    },
    bundle: true,
    write: false,
    format: "esm",
    platform: side === "client" ? "browser" : "node",
    conditions: ["@countersign/source", ...(side === "client" ? ["browser"] : [])],
    logLevel: "error",
    plugins: [
      {
        name: "svelte components",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /\.svelte$/ }, ({ path }) => ({ path, namespace: "component" }));
          onLoad({ filter: /.*/, namespace: "component" }, ({ path }) => {
            const { js } = compile(components[path] ?? "", { generate: side, filename: path });
            return { contents: js.code, resolveDir: SOURCES };
          });
        },
      },
    ],
  });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString("base64");
  return (await import(`data:text/javascript;base64,${code}`)) as Exports;
}
