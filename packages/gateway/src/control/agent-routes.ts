import { CountersignError, isCountersignError } from "@countersign/core";
import type { ControlRun } from "@countersign/core";
import { includesRole } from "../access/operators.js";
import type { Agents } from "../agent/upstream.js";
import type { Containment } from "../runs/containment.js";
import type { AgentResults } from "../telemetry/agent-health.js";
import { stopRuns } from "../sessions/orders.js";
import { listSessions } from "./all-sessions.js";
import type { AllSessions } from "./all-sessions.js";
import type { ControlApp, ControlContext } from "./control-env.js";
import type { OperatorActs } from "./operator-acts.js";
import { invalidField, problem } from "./problem.js";
import { BODY_LIMITS, readBody } from "./request-body.js";
import { unsignedRuns } from "./session-routes.js";
import "../base/errors.js";

/** Options of {@link addAgentRoutes}. */
export type AgentRoutesOptions = AllSessions & {
  readonly agents: Agents;
  readonly results: AgentResults;
  readonly containment: Containment;
  /** Signs for the operator of a request. */
  actsOf(context: ControlContext): OperatorActs;
};

type OpenRun = ControlRun & { readonly session_id: string };

const REASON = "an operator stopped the agent";
/** Stop orders to other gateways at once. */
const ORDERS = 16;

/** The agents with their health, and the stop of all runs of an agent or of every agent. */
export function addAgentRoutes(app: ControlApp, options: AgentRoutesOptions): void {
  const { agents, results, containment, actsOf } = options;
  const named = (agent: string | undefined): string | undefined => {
    if (agent !== undefined && !agents.names.includes(agent)) {
      throw invalidField("agent", `one of ${agents.names.join(", ")}`);
    }
    return agent;
  };
  app.get("/v1/agents", async (context) => {
    const { runs, isPartial } = await openRuns(options);
    const showsUrl = includesRole(context.get("operator").role, "operator");
    const contained = new Map(containment.list().map((one) => [one.agent, one]));
    const items = agents.names.map((name) => {
      const { health, lastSuccessAt, failures } = results.healthOf(name);
      const held = contained.get(name);
      return {
        name,
        url: addressOf(agents.find(name)?.target.url, showsUrl),
        health,
        open_runs: runs.filter(({ agent }) => agent === name).length,
        ...(lastSuccessAt === undefined ? {} : { last_success_at: lastSuccessAt }),
        recent_failures: failures,
        ...(held === undefined ? {} : { contained: { operator: held.operator, at: held.at } }),
      };
    });
    return context.json({ items, ...(isPartial ? { partial: true } : {}) });
  });
  app.get("/v1/stop-all", async (context) => {
    const { agent, ...others } = context.req.query();
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) throw invalidField(unknown, "left out: the parameter is agent");
    const { runs, isPartial } = await openRuns(options, named(agent));
    return context.json({
      agents: agent === undefined ? agents.names : [agent],
      runs,
      ...(isPartial ? { partial: true } : {}),
    });
  });
  app.post("/v1/stop-all", async (context) => {
    const body = readBody(await context.req.text(), ["agent", "expect_runs"]);
    const agent = named(body.optionalText("agent", BODY_LIMITS.name));
    const expected = body.optionalNumber("expect_runs", BODY_LIMITS.events);
    return stopAll(context, options, agent, expected);
  });
  app.post("/v1/agents/:name/resume", async (context) => {
    const name = context.req.param("name");
    if (!containment.isContained(name)) {
      return problem(context, 409, "AGENT_NOT_CONTAINED", "The agent is not stopped");
    }
    // A stopped agent that runs again must be in the log.
    await actsOf(context).record({ act: "agent-resume", agent: name });
    await containment.resume(name);
    return context.json({ agent: name, contained: false });
  });
}

async function stopAll(
  context: ControlContext,
  options: AgentRoutesOptions,
  agent: string | undefined,
  expected: number | undefined,
): Promise<Response> {
  const { agents, sessions, containment, gateway, fleet } = options;
  const acts = options.actsOf(context);
  const names = agent === undefined ? agents.names : [agent];
  const listed = await openRuns(options, agent);
  if (expected !== undefined && expected !== listed.runs.length) {
    throw new CountersignError(
      "ERR_CONTROL_STOP_CHANGED",
      `${listed.runs.length} runs are open now, not ${expected}. Fix: look at GET /v1/stop-all again, or leave expect_runs out`,
      { runs: listed.runs.length },
    );
  }
  // First no new runs, so that none starts behind the list.
  const isStored = await containment.contain(names, acts.operator);
  const here = sessions
    .list()
    .flatMap(({ id, runs }) =>
      [...runs.values()]
        .filter((run) => names.includes(run.agent))
        .flatMap((run) => stopRuns(sessions, { session: id, run: run.runId }, REASON)),
    );
  const elsewhere = listed.runs.filter((run) => run.gateway !== gateway);
  let isPartial = listed.isPartial || !isStored;
  const stopped = here.map(({ session, run }) => ({ session_id: session, run_id: run, gateway }));
  for (let start = 0; start < elsewhere.length; start += ORDERS) {
    const answers = await Promise.all(
      elsewhere.slice(start, start + ORDERS).map(async ({ session_id: session, run_id: run }) => {
        try {
          const order = await fleet?.stopFor(acts.operator, { session, run });
          await acts.recordStopped(unsignedRuns(order?.answers ?? [], session));
          return order?.answers ?? [];
        } catch (error) {
          if (!isCountersignError(error)) throw error;
          isPartial = true;
          return [];
        }
      }),
    );
    for (const { gateway: there, stopped: runs } of answers.flat()) {
      stopped.push(
        ...runs.map(({ session, run }) => ({ session_id: session, run_id: run, gateway: there })),
      );
    }
  }
  const signed = await acts.recordStopped(here);
  const receipts = await Promise.all(
    names.map((name) => acts.note({ act: "agent-contain", agent: name })),
  );
  const isRecorded = signed && receipts.every((receipt) => receipt !== undefined);
  return context.json(
    {
      agents: names,
      stopped,
      ...(isPartial ? { partial: true } : {}),
      ...(isRecorded ? {} : { unrecorded: true }),
    },
    202,
  );
}

/** The open runs of an agent, or of all agents, at every gateway. */
async function openRuns(
  all: AllSessions,
  agent?: string,
): Promise<{ readonly runs: readonly OpenRun[]; readonly isPartial: boolean }> {
  const { items, isPartial } = await listSessions(all);
  const runs = items
    .map((view) => view())
    .flatMap(({ id, runs: own }) => own.map((run) => ({ session_id: id, ...run })))
    .filter((run) => run.status === "running" && (agent === undefined || run.agent === agent));
  return { runs, isPartial };
}

/** The address without credentials and query; only its host for viewers. */
function addressOf(url: URL | undefined, isWhole: boolean): string {
  if (url === undefined) return "";
  return isWhole ? `${url.protocol}//${url.host}${url.pathname}` : url.host;
}
