/** The command as this user typed it, for lines to copy: npm sets `npm_command` when npx starts the program. */
export const COMMAND = process.env["npm_command"] === "exec" ? "npx countersign" : "countersign";
