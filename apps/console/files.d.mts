/** The folder of the built console: what a gateway serves at /console. */
export declare const CONSOLE_DIRECTORY: string;

/** The console's verifier of receipts, one module without imports: for a page of another program. */
export declare const VERIFIER_FILE: string;
