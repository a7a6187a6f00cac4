import type { GatewayConfig } from "@countersign/gateway";
import { defaultInput, examine, failing } from "@countersign/inspect";
import { COMMAND } from "../output/command-name.js";

/** An address without what may be a secret: name and password, and the query. */
export function displayAddress({ protocol, host, pathname, search }: URL): string {
  return `${protocol}//${host}${pathname}${search === "" ? "" : "?…"}`;
}

type Agent = GatewayConfig["agents"][number];

/** The result of a test request to an agent. */
export type ProbeResult = { readonly name: string; readonly ok: boolean; readonly says: string };

/** The time limit of one agent in milliseconds, because an operator waits at the terminal. */
const PATIENCE_MS = 15_000;

/** Sends each agent one request for a run and nothing else: bounded, and with credentials for its own address only. */
export async function probeAgents(agents: readonly Agent[]): Promise<ProbeResult[]> {
  return Promise.all(agents.map(askAgent));
}

async function askAgent({
  name,
  url,
  headers,
  dialect,
  profile,
  transport,
  forwardAuthorization,
}: Agent): Promise<ProbeResult> {
  if (dialect === "chio") {
    return {
      name,
      ok: true,
      says: "no request sent: an agent with this dialect starts its streams itself",
    };
  }
  const report = await examine(url.href, {
    headers,
    input: defaultInput(),
    dialect,
    profile: profile ?? "auto",
    get: transport === "get-sse",
    preflight: false,
    capabilities: false,
    timeoutMs: PATIENCE_MS,
    severities: new Map(),
  });
  const [first] = failing(report, "error");
  const took = `${Math.round(report.durationMs)} ms`;
  if (first === undefined) {
    const repaired = report.findings.find(({ rule }) => rule === "gateway/repaired");
    const details = new Set(repaired?.places.map(({ detail }) => detail ?? ""));
    const answers = `answers with ${report.stream?.events ?? 0} events in ${took}`;
    return { name, ok: true, says: [answers, ...details].join("; ") };
  }
  // The agent's users supply the credential, so this test request has none.
  if (first.rule === "http/auth" && forwardAuthorization === true) {
    return { name, ok: true, says: "responds, and needs the credential of a user" };
  }
  const { status } = report.exchange ?? {};
  const detail = first.places[0]?.detail;
  const shown = status === undefined || status === 200 ? "" : ` (status ${status})`;
  const wrong = [first.message.replace(/\.$/u, ""), detail].filter(Boolean).join(": ");
  const more = `Fix: run ${COMMAND} doctor ${displayAddress(url)}`;
  return { name, ok: false, says: `${wrong}${shown}. ${more}` };
}
