import { printableText } from "@countersign/core";
import type { ControlRun } from "@countersign/core";
import { formatTable } from "../../output/table.js";
import { callControl } from "./control-plane.js";
import type { ControlFlags } from "./control-plane.js";

/** A run of the control API. */
export type Run = ControlRun & { readonly session_id: string };

type RunPage = {
  readonly runs: readonly Run[];
  readonly cursor?: string;
  readonly partial?: true;
};

/** Runs of a running gateway, and whether a gateway of the log did not respond. */
export type FoundRuns = { readonly runs: readonly Run[]; readonly isPartial: boolean };

const PAGE = 500;
const MOST = 20;

/** Reads all runs with a status, or all that the gateways still know. */
export async function readRuns(flags: ControlFlags, status?: string): Promise<FoundRuns> {
  const runs: Run[] = [];
  let isPartial = false;
  let cursor: string | undefined;
  for (let page = 0; page < MOST; page += 1) {
    const query = new URLSearchParams({
      limit: String(PAGE),
      ...(status === undefined ? {} : { status }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const found = (await callControl(flags, `/v1/runs?${query}`)) as unknown as RunPage;
    runs.push(...found.runs);
    isPartial ||= found.partial === true;
    cursor = found.cursor;
    if (cursor === undefined) break;
  }
  return { runs, isPartial };
}

/** Runs as a table, as `GET /v1/runs` names their columns. */
export function runTable(runs: readonly Run[]): string {
  const header = ["run", "status", "agent", "principal", "session", "blocked", "started"];
  const rows = runs.map((run) => [
    printableText(run.run_id),
    run.status,
    printableText(run.agent),
    printableText(run.principal ?? ""),
    printableText(run.session_id),
    String(run.blocked),
    new Date(run.started_at).toISOString(),
  ]);
  return formatTable(header, rows);
}
