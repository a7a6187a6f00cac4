/** The folder of the built console: what a gateway serves at /console. */
export declare const CONSOLE_DIRECTORY: string;
