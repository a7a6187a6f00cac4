/** The version of the command, as in its package.json. */
export const VERSION = "0.1.0";
