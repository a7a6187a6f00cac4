import { fileURLToPath } from "node:url";

/** The folder of the built console: what a gateway serves at /console. */
export const CONSOLE_DIRECTORY = fileURLToPath(new URL("./dist/page", import.meta.url));

/** The console's verifier of receipts, one module without imports: for a page of another program. */
export const VERIFIER_FILE = fileURLToPath(new URL("./dist/verifier/verify.js", import.meta.url));
