import { page } from "../../page.mjs";

/** The page with another store than its own: the text of the module that stands in its place. */
export function pageWithStore(text: string) {
  const name = "\0own-store";
  const own = {
    name: "own-store",
    enforce: "pre" as const,
    resolveId: (id: string) => (id === "./store.js" ? name : undefined),
    load: (id: string) => (id === name ? text : undefined),
  };
  return { ...page, plugins: [own, page.plugins] };
}
