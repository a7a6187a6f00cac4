import { DEFAULT_LIMITS } from "@countersign/core";
import { LineSplitter } from "../framing/line-splitter.js";

/** A line of a file, with its number; `undefined` text when it is over the limit. */
export type FileLine = { readonly number: number; readonly text: string | undefined };

/** A recorded line wraps an event, so it may be longer than one. */
const LONGEST = DEFAULT_LIMITS.maxEventBytes * 2;

/** Reads a file line by line as its bytes come; never more than one read and one line are held. */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<FileLine[]> {
  let number = 0;
  let lines: FileLine[] = [];
  const splitter = new LineSplitter(
    {
      line: (text) => {
        number++;
        if (text.trim() !== "") lines.push({ number, text });
      },
      invalid: () => {},
      tooLong: () => void lines.push({ number: ++number, text: undefined }),
    },
    LONGEST,
  );
  for await (const chunk of source) {
    splitter.push(chunk);
    if (lines.length > 0) yield lines;
    lines = [];
  }
  splitter.end();
  if (lines.length > 0) yield lines;
}
