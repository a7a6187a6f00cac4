import react from "@vitejs/plugin-react";
import { defaultClientConditions } from "vite";

/** How Vite builds the console: from our sources, as files of our own origin alone. */
export const page = {
  root: import.meta.dirname,
  base: "/console/",
  configFile: false,
  logLevel: "warn",
  plugins: [react()],
  resolve: { conditions: ["@countersign/source", ...defaultClientConditions] },
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
