import { createInterface } from "node:readline/promises";

/** A terminal with a person at it. */
export type Terminal = {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
};

/** One question. */
export type Question<Answer> = {
  readonly text: string;
  /** Explains the question on lines of its own. */
  readonly hint?: string;
  /** The answer that Enter gives. */
  readonly fallback: string;
  /** Reads an answer; throws an error whose message says how to write it. */
  readonly read: (text: string) => Answer;
};

/** Asks one question after another; repeats a question until its answer can be read. */
export type Ask = <Answer>(question: Question<Answer>) => Promise<Answer>;

/** Whether a person can be asked: input and output are a terminal. */
export function isInteractive({ input, output }: Terminal): boolean {
  return input.isTTY === true && output.isTTY === true;
}

/**
 * Gives `work` a way to ask questions on a terminal.
 *
 * @throws Error when the person ends the input (Ctrl+C, Ctrl+D) before the last answer
 */
export async function withQuestions<Result>(
  { input, output }: Terminal,
  work: (ask: Ask) => Promise<Result>,
): Promise<Result> {
  const reader = createInterface({ input, output, terminal: true });
  // The iterator keeps lines that arrive before their question, as pasted text does.
  const lines = reader[Symbol.asyncIterator]();
  const ask: Ask = async ({ text, hint, fallback, read }) => {
    if (hint !== undefined) output.write(`${hint}\n`);
    for (;;) {
      reader.setPrompt(`${text} [${fallback}] `);
      reader.prompt();
      const line = await lines.next();
      if (line.done === true)
        throw new Error("the input ended before the last answer; no file was written");
      try {
        return read(line.value.trim() || fallback);
      } catch (error) {
        output.write(`  ${error instanceof Error ? error.message : String(error)}\n`);
      }
    }
  };
  try {
    return await work(ask);
  } finally {
    reader.close();
  }
}
