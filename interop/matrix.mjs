// One framework: its process, the gateways in front of it, and every client through each of them.
import { spawn } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
import { fileURLToPath } from "node:url";
import { CLIENTS, PAGE_TOOL } from "./clients.mjs";
import { startGateway } from "./gateway.mjs";
import { comparable, converse, freely } from "./scenario.mjs";

export const MODES = ["direct", "observe", "starter", "opened"];

/** Starts a framework's agent; resolves with its address. */
export async function startAgent({ agent }, node, modelUrl) {
  const file = fileURLToPath(new URL(`agents/${agent}`, import.meta.url));
  const child = spawn(node, [file], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      MODEL_URL: modelUrl,
      COPILOTKIT_TELEMETRY_DISABLED: "true",
      MASTRA_TELEMETRY_DISABLED: "1",
    },
  });
  let printed = "";
  const url = await new Promise((resolve, reject) => {
    const hear = (part) => {
      printed = `${printed}${part}`.slice(-20_000);
      const [, address] = /^agent (\S+)$/mu.exec(printed) ?? [];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", (code) =>
      reject(new Error(`it ended with ${code}: ${printed.slice(-600)}`)),
    );
    setTimeout(
      () => reject(new Error(`it did not start: ${printed.slice(-600)}`)),
      120_000,
    ).unref();
  });
  return { url, said: () => printed, close: () => child.kill("SIGTERM") };
}

/** Runs every client through every mode; one result per cell. */
export async function runFramework(framework, { node, modelUrl, clients, report }) {
  const agent = await startAgent(framework, node, modelUrl);
  const cells = [];
  try {
    for (const mode of MODES) {
      const gateway =
        mode === "direct"
          ? undefined
          : await startGateway({
              agentUrl: agent.url,
              mode,
              preset: framework.preset,
              tools: [PAGE_TOOL.name],
            });
      try {
        for (const client of clients) {
          const seen = await converse(
            CLIENTS[client](gateway?.url ?? agent.url),
            framework.turns,
            // Its tools of the page and its questions need a server of TanStack's own.
            client === "tanstack" && framework.name !== "tanstack",
          );
          const direct = cells.find((cell) => cell.client === client && cell.mode === "direct");
          const deviations =
            mode === "direct" ? ownErrors(seen) : deviationsOf(mode, direct.seen, seen);
          const cell = {
            framework: framework.name,
            client,
            mode,
            seen,
            deviations,
            blocked: blockedIn(seen),
          };
          cells.push(cell);
          report(cell);
        }
      } finally {
        await gateway?.close();
      }
    }
  } finally {
    agent.close();
  }
  return cells;
}

/** What the gateway kept back, by the type and the rule that its notices name. */
function blockedIn({ runs }) {
  const counts = new Map();
  const note = (key) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const { kind, events, error } of runs) {
    for (const { type, name, value, code, message } of events) {
      if (type === "CUSTOM" && name === "countersign.blocked") {
        note(`${value.type} (${value.rule}: ${value.reason})`);
      }
      if (type === "RUN_ERROR") note(`RUN_ERROR ${code ?? ""} in "${kind}" (${message})`);
    }
    if (error !== undefined && !events.some(({ type }) => type === "RUN_ERROR"))
      note(`"${kind}": ${error}`);
  }
  return [...counts].map(([what, count]) => `${count} × ${what}`);
}

function ownErrors({ runs }) {
  return runs.flatMap(({ kind, error }) => (error === undefined ? [] : [`${kind}: ${error}`]));
}

/** How a cell differs from the same client without the gateway, in sentences. */
function deviationsOf(mode, direct, seen) {
  if (mode === "starter") {
    const [wanted, got] = [freely(direct), freely(seen)];
    return wanted.flatMap((run, index) =>
      run.error !== undefined || isDeepStrictEqual(run, got[index])
        ? []
        : [`${run.kind}: ${difference(run, got[index])}`],
    );
  }
  const [wanted, got] = [comparable(direct), comparable(seen)];
  const found = [];
  const broken = wanted.runs.find(({ error }) => error !== undefined);
  // From where the framework fails by itself, the gateway may only do better.
  const length = broken === undefined ? wanted.runs.length : wanted.runs.indexOf(broken);
  for (let index = 0; index < length; index += 1) {
    const [a, b] = [wanted.runs[index], got.runs[index]];
    found.push(...runDifferences(a, b).map((text) => `${a.kind}: ${text}`));
  }
  if (broken === undefined ? got.runs.length > length : got.runs.length < wanted.runs.length) {
    found.push(`${got.runs.length} runs, without the gateway ${wanted.runs.length}`);
  }
  if (broken !== undefined) return found;
  if (!isDeepStrictEqual(wanted.messages, got.messages)) {
    found.push(`messages: ${difference(wanted.messages, got.messages)}`);
  }
  if (!isDeepStrictEqual(wanted.state, got.state)) {
    found.push(`state: ${difference(wanted.state, got.state)}`);
  }
  return found;
}

/** Every count that differs, so that a known difference hides no other. An error comes alone: nothing follows it. */
function runDifferences(a, b) {
  if (a.kind !== b?.kind || a.error !== b.error)
    return [difference(withoutCounts(a), withoutCounts(b))];
  const types = new Set([...Object.keys(a.counts), ...Object.keys(b.counts)]);
  return [...types]
    .filter((type) => a.counts[type] !== b.counts[type])
    .map((type) => difference(a.counts[type], b.counts[type], `/counts/${type}`));
}

function withoutCounts(run) {
  return run === undefined ? undefined : { kind: run.kind, error: run.error };
}

/** The first place where two values differ. */
function difference(a, b, path = "") {
  const isObject = (value) => typeof value === "object" && value !== null;
  if (isObject(a) && isObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      if (!isDeepStrictEqual(a[key], b[key])) return difference(a[key], b[key], `${path}/${key}`);
    }
  }
  const short = (value) => (value === undefined ? "nothing" : JSON.stringify(value).slice(0, 160));
  return `${path} is ${short(b)}, without the gateway ${short(a)}`;
}
