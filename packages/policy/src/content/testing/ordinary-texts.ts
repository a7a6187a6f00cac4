import { readFileSync } from "node:fs";

/** One text that an assistant may well write, with what it is about. */
export type OrdinaryText = { readonly title: string; readonly text: string };

const FILES = ["web.txt", "code.txt", "prose.txt", "answers.txt"] as const;

/** The texts of this folder: in each file a line `=== title` stands before every one. */
export function readOrdinaryTexts(): OrdinaryText[] {
  return FILES.flatMap((file) =>
    readFileSync(new URL(file, import.meta.url), "utf8")
      .split(/^=== /m)
      .slice(1)
      .map((part) => {
        const end = part.indexOf("\n");
        return { title: part.slice(0, end), text: part.slice(end + 1) };
      }),
  );
}
