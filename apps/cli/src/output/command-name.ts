/** The command as this user typed it, for lines to copy: npm sets `npm_command` when npx starts the program. */
export const COMMAND = process.env["npm_command"] === "exec" ? "npx countersign" : "countersign";

/** A command of this program within a text: its name and a verb. */
const NAMED =
  /(?<![\w/.@-]|npx )countersign (?=(?:agents|capability|capture|config|demo|doctor|help|init|keys|operators|policy|receipts|redteam|replay|runs|serve)\b)/gu;

/** A text of the product with its commands as this user types them. */
export function asTyped(text: string): string {
  return text.replaceAll(NAMED, `${COMMAND} `);
}
