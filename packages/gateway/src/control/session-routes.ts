import type { ControlApp, ControlContext, ShownPrincipal } from "./control-env.js";
import type { Fleet } from "../cluster/fleet.js";
import type { OrderAnswer, StoppedRun } from "../sessions/orders.js";
import { stopRuns } from "../sessions/orders.js";
import { findSession, listSessions } from "./all-sessions.js";
import type { AllSessions } from "./all-sessions.js";
import type { OperatorActs } from "./operator-acts.js";
import { cutPage } from "./query.js";
import { problem } from "./problem.js";

const STATUSES: ReadonlySet<string> = new Set(["running", "finished", "failed", "stopped"]);
const REASON = "an operator stopped it";
/** The result for a gateway without a fleet. */
const NO_OTHERS: Awaited<ReturnType<Fleet["stopFor"]>> = { answers: [], isPartial: false };

/** Lists sessions and their runs, and stops them, at any gateway. */
export function addSessionRoutes(
  app: ControlApp,
  all: AllSessions,
  actsOf: (context: ControlContext) => OperatorActs,
  ownerOf: (session: string) => Promise<string | undefined>,
  shown: ShownPrincipal,
): void {
  app.get("/v1/sessions", async (context) => {
    const list = await listSessions(all);
    const { items, cursor } = cutPage(list.items, context.req.query());
    return context.json({
      sessions: items.map((view) => view()),
      ...(cursor === undefined ? {} : { cursor }),
      ...(list.isPartial ? { partial: true } : {}),
    });
  });
  app.get("/v1/sessions/:id", async (context) => {
    const id = context.req.param("id");
    const session = await findSession(all, id);
    if (session === undefined) {
      return problem(context, 404, "SESSION_UNKNOWN", "No session of that id is known");
    }
    const owner = await ownerOf(id);
    if (owner === undefined) return context.json({ ...session, owner: null });
    const name = shown(context, owner);
    // Absent: there is an owner, who is not shown.
    return context.json({ ...session, ...(name === undefined ? {} : { owner: name }) });
  });
  app.get("/v1/runs", async (context) => {
    const { status } = context.req.query();
    if (status !== undefined && !STATUSES.has(status)) {
      return problem(
        context,
        400,
        "ERR_CONTROL_FIELD",
        `status must be ${[...STATUSES].join(", ")}`,
      );
    }
    const list = await listSessions(all);
    const runs = list.items
      .map((view) => view())
      .flatMap(({ id, runs: own }) => own.map((run) => ({ session_id: id, ...run })))
      .filter((run) => status === undefined || run.status === status);
    const { items, cursor } = cutPage(runs, context.req.query(), ["status"]);
    return context.json({
      runs: items,
      ...(cursor === undefined ? {} : { cursor }),
      ...(list.isPartial ? { partial: true } : {}),
    });
  });
  app.post("/v1/sessions/:id/runs/:run/stop", (context) => {
    const { id, run } = context.req.param();
    return stopRun(context, { ...all, acts: actsOf(context) }, id, run);
  });
  app.post("/v1/sessions/:id/stop", (context) =>
    stopSession(context, { ...all, acts: actsOf(context) }, context.req.param("id")),
  );
}

type Stopping = AllSessions & { readonly acts: OperatorActs };

async function stopRun(
  context: ControlContext,
  { sessions, fleet, gateway, acts }: Stopping,
  session: string,
  run: string,
): Promise<Response> {
  const here = sessions.find(session)?.runs.get(run);
  const [stopped] = stopRuns(sessions, { session, run }, REASON);
  if (stopped !== undefined) {
    await acts.recordStopped([stopped]);
    return context.json({ run_id: run, status: "stopped", gateway }, 202);
  }
  if (here !== undefined) return problem(context, 409, "RUN_OVER", "The run has ended already");
  const { answers } = (await fleet?.stopFor(acts.operator, { session, run })) ?? NO_OTHERS;
  const there = answers.find((answer) => answer.stopped.length > 0);
  if (there !== undefined) {
    await acts.recordStopped(unsignedRuns([there], session).filter((one) => one.run === run));
    return context.json({ run_id: run, status: "stopped", gateway: there.gateway }, 202);
  }
  const rows = (await fleet?.sessions(session)) ?? [];
  const isOver = rows.some(({ view }) =>
    (view["runs"] as { run_id: string }[]).some((one) => one.run_id === run),
  );
  return isOver
    ? problem(context, 409, "RUN_OVER", "The run has ended already")
    : problem(context, 404, "RUN_UNKNOWN", "No run of that id is known in that session");
}

/**
 * The runs of a session that other gateways ended without signing a receipt; their answers came through a shared
 * table.
 */
export function unsignedRuns(answers: readonly OrderAnswer[], session: string): StoppedRun[] {
  const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
  const unsigned = answers.filter(({ signs }) => signs !== true);
  return unsigned
    .flatMap(({ stopped }) => stopped)
    .filter(
      (one) =>
        one.session === session &&
        typeof one.run === "string" &&
        isText(one.thread) &&
        isText(one.agent) &&
        isText(one.client?.principal) &&
        isText(one.client?.client_address),
    );
}

async function stopSession(context: ControlContext, all: Stopping, id: string): Promise<Response> {
  const { sessions, fleet, gateway, acts } = all;
  const here = stopRuns(sessions, { session: id }, REASON);
  // Ended runs stay ended, whatever the other gateways answer. The others stop theirs even while the log is slow.
  const [{ answers, isPartial }] = await Promise.all([
    fleet?.stopFor(acts.operator, { session: id }) ?? NO_OTHERS,
    acts.recordStopped(here),
  ]);
  await acts.recordStopped(unsignedRuns(answers, id));
  const stopped = [{ gateway, stopped: here }, ...answers].flatMap((answer) =>
    answer.stopped.map(({ run }) => ({ run_id: run, gateway: answer.gateway })),
  );
  if (stopped.length === 0 && (await findSession(all, id)) === undefined) {
    return problem(context, 404, "SESSION_UNKNOWN", "No session of that id is known");
  }
  return context.json({ session_id: id, stopped, ...(isPartial ? { partial: true } : {}) }, 202);
}
