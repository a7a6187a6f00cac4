import { fileURLToPath } from "node:url";

/** The folder of the built console: what a gateway serves at /console. */
export const CONSOLE_DIRECTORY = fileURLToPath(new URL("./dist/page", import.meta.url));
