import type { Entry, Status } from "../api/responses.js";
import { fetchJson, fetchText, request } from "../api/request.js";
import type { Payloads } from "../conversation/steps.js";
import { writeReport } from "./write-report.js";

/** Entries of one report; each needs its proof. */
export const MAX_REPORT = 1000;
const AT_ONCE = 8;

/** The report of a run as one HTML page. */
export async function readReport(
  run: { readonly session: string; readonly run: string; readonly total: number },
  entries: readonly Entry[],
  payloads: Payloads,
): Promise<string> {
  const chosen = entries.slice(0, MAX_REPORT);
  const { log } = await fetchJson<Status>("/v1/status");
  const script = await fetchText("/console/report.js");
  const parts: { text: string; proof: string; payload?: unknown }[] = [];
  for (let start = 0; start < chosen.length; start += AT_ONCE) {
    const some = await Promise.all(
      chosen.slice(start, start + AT_ONCE).map(async ({ seq }) => ({
        ...(await evidenceOf(seq)),
        ...(payloads.has(seq) ? { payload: payloads.get(seq) } : {}),
      })),
    );
    parts.push(...some);
  }
  const data = {
    run: run.run,
    session: run.session,
    principal: entries.find(({ principal }) => principal !== undefined)?.principal ?? "anonymous",
    created_at: new Date().toISOString(),
    log_key: log.key,
    total: run.total,
    entries: parts,
  };
  return writeReport(data, script);
}

/** The exact text of an entry, and its proof. */
async function evidenceOf(seq: number): Promise<{ text: string; proof: string }> {
  const [response, proof] = await Promise.all([
    request(`/v1/receipts/export?start=${seq}&limit=1`),
    fetchText(`/v1/receipts/${seq}/proof`),
  ]);
  const text = await response.text();
  return { text: text.endsWith("\n") ? text.slice(0, -1) : text, proof };
}
