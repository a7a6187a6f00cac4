import { sseFrame } from "@countersign/testkit";
import type { FakePiece, FakeScript } from "@countersign/testkit";
import { idsOf, inRun, text } from "./events.js";

/**
 * Responds with one message; a run whose id begins with `held` starts and then sends nothing more.
 */
export const HELD_AGENT: FakeScript = (request) => ({
  pieces: (async function* (): AsyncGenerator<FakePiece> {
    const ids = idsOf(request.body);
    const write = (event: object): string =>
      request.method === "WS" ? JSON.stringify(event) : sseFrame(event);
    if (!ids.runId.startsWith("held")) {
      yield* inRun(ids, text("m1", "hello")).map(write);
      return;
    }
    yield write({ type: "RUN_STARTED", ...ids });
    await new Promise((resolve) => {
      request.signal.addEventListener("abort", resolve, { once: true });
    });
  })(),
});
