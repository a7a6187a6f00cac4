import type { Hono } from "hono";
import type { RunHandle } from "../sessions/session.js";
import type { Sessions } from "../sessions/sessions.js";
import { cutPage } from "./page.js";
import { problem } from "./problem.js";
import { runView, sessionView } from "./session-view.js";

const STATUSES: ReadonlySet<string> = new Set(["running", "finished", "failed", "stopped"]);

/** Sessions, their runs, and the way to stop one. */
export function addSessionRoutes(app: Hono, sessions: Sessions): void {
  app.get("/v1/sessions", (context) => {
    const { items, cursor } = cutPage(sessions.list(), context.req.query());
    return context.json({
      sessions: items.map(sessionView),
      ...(cursor === undefined ? {} : { cursor }),
    });
  });
  app.get("/v1/sessions/:id", (context) => {
    const session = sessions.find(context.req.param("id"));
    return session === undefined
      ? problem(context, 404, "SESSION_UNKNOWN", "No session of that id is known")
      : context.json(sessionView(session));
  });
  app.get("/v1/runs", (context) => {
    const { status } = context.req.query();
    if (status !== undefined && !STATUSES.has(status)) {
      return problem(
        context,
        400,
        "ERR_CONTROL_FIELD",
        `status must be ${[...STATUSES].join(", ")}`,
      );
    }
    const all = sessions
      .list()
      .flatMap(({ id, runs }) => [...runs.values()].map((run) => ({ id, run })))
      .filter(({ run }) => status === undefined || run.status === status);
    const { items, cursor } = cutPage(all, context.req.query(), ["status"]);
    return context.json({
      runs: items.map(({ id, run }) => ({ session_id: id, ...runView(run) })),
      ...(cursor === undefined ? {} : { cursor }),
    });
  });
  app.post("/v1/sessions/:id/runs/:run/stop", (context) => {
    const { id, run: runId } = context.req.param();
    const run: RunHandle | undefined = sessions.find(id)?.runs.get(runId);
    if (run === undefined) {
      return problem(context, 404, "RUN_UNKNOWN", "No run of that id is known in that session");
    }
    if (run.status !== "running") {
      return problem(context, 409, "RUN_OVER", "The run has ended already");
    }
    run.stop("an operator stopped it");
    return context.json({ run_id: run.runId, status: run.status }, 202);
  });
}
