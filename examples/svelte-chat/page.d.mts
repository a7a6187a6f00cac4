import type { InlineConfig } from "vite";

/** How Vite builds this page. */
export const page: InlineConfig & { root: string };
