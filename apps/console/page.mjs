import react from "@vitejs/plugin-react";
import { defaultClientConditions } from "vite";

const OURS = {
  root: import.meta.dirname,
  configFile: false,
  logLevel: "warn",
  resolve: { conditions: ["@countersign/source", ...defaultClientConditions] },
};

/** How Vite builds the console: from our sources, as files of our own origin alone. */
export const page = {
  ...OURS,
  base: "/console/",
  plugins: [react()],
  build: {
    outDir: "dist/page",
    emptyOutDir: true,
    // Nothing inline: the page's Content-Security-Policy has no place for it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    reportCompressedSize: false,
  },
};

/** How Vite builds the console's verifier as one module that another page can import. */
export const verifier = {
  ...OURS,
  publicDir: false,
  build: {
    outDir: "dist/verifier",
    emptyOutDir: true,
    lib: { entry: "src/verify/standalone.ts", formats: ["es"], fileName: () => "verify.js" },
    target: "es2023",
    reportCompressedSize: false,
  },
};

/** How Vite builds the script of a report: one file that the console puts into an HTML page. */
export const report = {
  ...OURS,
  publicDir: false,
  build: {
    outDir: "dist/page",
    emptyOutDir: false,
    lib: {
      entry: "src/report/report-page.ts",
      name: "report",
      formats: ["iife"],
      fileName: () => "report.js",
    },
    target: "es2023",
    reportCompressedSize: false,
  },
};
