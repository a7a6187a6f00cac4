import { svelte } from "@sveltejs/vite-plugin-svelte";

/** How Vite builds this page. */
export const page = {
  root: import.meta.dirname,
  configFile: false,
  logLevel: "warn",
  plugins: [svelte({ configFile: false })],
};
