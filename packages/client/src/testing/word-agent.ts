import { sseFrame } from "@countersign/testkit";
import type { FakeScript } from "@countersign/testkit";

/** The words that {@link sayWords} streams. */
export const WORDS = Array.from({ length: 40 }, (_, index) => `word ${index} `);

/** An agent that says a word every five milliseconds. */
export const sayWords: FakeScript = ({ body }) => ({
  pieces: (async function* () {
    const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
    yield sseFrame({ type: "RUN_STARTED", threadId, runId });
    yield sseFrame({ type: "TEXT_MESSAGE_START", messageId: runId, role: "assistant" });
    for (const delta of WORDS) {
      yield sseFrame({ type: "TEXT_MESSAGE_CONTENT", messageId: runId, delta });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    yield sseFrame({ type: "TEXT_MESSAGE_END", messageId: runId });
    yield sseFrame({ type: "RUN_FINISHED", threadId, runId });
  })(),
});
