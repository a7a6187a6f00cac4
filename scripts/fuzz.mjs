// Parsers of outside bytes meet bytes that nobody thought of: `npm run fuzz -- sse --seconds 60` (docs/security/fuzzing.md).
// The targets reach inside of packages, so they are bundled from the sources, and V8 counts blocks of that one file.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { build, defaultServerConditions } from "vite";
import { root } from "./sources.mjs";

const outDir = join(root, "fuzz", "dist");
await build({
  root,
  configFile: false,
  logLevel: "error",
  ssr: { noExternal: [/^@countersign\//u] },
  resolve: { conditions: ["@countersign/source", ...defaultServerConditions] },
  environments: {
    ssr: { resolve: { conditions: ["@countersign/source", ...defaultServerConditions] } },
  },
  build: {
    ssr: join(root, "fuzz", "main.ts"),
    outDir,
    emptyOutDir: true,
    minify: false,
    target: "node20",
    rollupOptions: { output: { entryFileNames: "main.mjs", chunkFileNames: "[name].mjs" } },
  },
});
const { status } = spawnSync(
  process.execPath,
  ["--enable-source-maps", join(outDir, "main.mjs"), ...process.argv.slice(2)],
  { cwd: root, stdio: "inherit" },
);
process.exitCode = status ?? 1;
