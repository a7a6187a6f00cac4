import { feedItemOf } from "../control/feed-item.js";
import { STOPPED } from "../deliver/run-error.js";
import type { Observer } from "../pipeline/observer.js";
import type { Run } from "../pipeline/run.js";
import type { RunHandle, Session } from "../sessions/session.js";
import { countPassage } from "../telemetry/count-passage.js";
import type { Surroundings } from "./surroundings.js";

/** Tells the feed, the session's counters and the journal what happens on one run. */
export function createRunObserver(
  around: Surroundings,
  session: Session,
  handle: RunHandle,
  run: () => Run,
): Observer {
  const { agent, runId } = handle;
  const { telemetry } = around;
  return {
    notes: (notes) =>
      around.journal.debug({ agent, run: runId, notes: notes.length }, "dropped or translated"),
    recorded: (passage) => {
      const blocked = passage.decision?.allow === false || passage.refused !== undefined;
      session.counters[blocked ? "blocked" : "forwarded"] += 1;
      countPassage(telemetry, agent, passage);
      const item = feedItemOf(run(), passage);
      if (item !== undefined) around.feed.publish(item);
    },
    delivered: (_passages, arrivedAt) =>
      telemetry.addedLatency.observe((performance.now() - arrivedAt) / 1000),
    failed: (code, cause) => {
      if (code === STOPPED.code) return;
      if (handle.status === "running") handle.status = "failed";
      handle.failure ??= code;
      telemetry.runFailures.add(code);
      around.journal.warn({ agent, run: runId, code, cause: codeOf(cause) }, "run failed");
    },
  };
}

/** The code of a failure; its words could hold anything. */
export function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
}
