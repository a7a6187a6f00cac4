import { readPublicKey } from "@countersign/capability";
import { parseUrl } from "@countersign/core";
import { OPERATOR_AGENT } from "@countersign/policy";
import type { DocumentIssue } from "@countersign/policy/yaml";
import { checkAccess, checkOrigins } from "./access.js";
import { checkControl } from "./control.js";
import { LISTENERS } from "./document.js";
import type { AgentBlock, ConfigDocument } from "./document.js";
import { checkLimits } from "./listen-limits.js";
import { checkOutgoing } from "./outgoing.js";
import { checkWitnesses } from "./witnesses.js";

/** Checks rules that the schema cannot express. */
export function checkSemantics(
  document: ConfigDocument,
  issue: (pointer: string, message: string) => DocumentIssue,
): DocumentIssue[] {
  const found: DocumentIssue[] = [];
  const names = Object.keys(document.agents);
  if (names.length === 0) found.push(issue("/agents", "agents needs at least one agent"));
  for (const name of names) {
    if (name === OPERATOR_AGENT) {
      const message = `${name} stands for operators in receipts; give the agent another name`;
      found.push(issue(`/agents/${name}`, message));
    }
    const { url, transport, chio_keys: keys = [] } = document.agents[name] as AgentBlock;
    for (const [index, key] of keys.entries()) {
      if (isPublicKey(key)) continue;
      const message = "chio_keys has a text that is not an Ed25519 public key, such as ed25519:HEX";
      found.push(issue(`/agents/${name}/chio_keys/${index}`, message));
    }
    checkKind(document.agents[name] as AgentBlock, (key, message) =>
      found.push(issue(`/agents/${name}/${key}`, message)),
    );
    const at = `/agents/${name}/url`;
    const schemes = transport === "websocket" ? ["ws:", "wss:"] : ["http:", "https:"];
    const address = parseUrl(url);
    if (address === undefined)
      found.push(issue(at, "url is not an absolute address, such as http://127.0.0.1:8000/"));
    else if (!schemes.includes(address.protocol)) {
      found.push(issue(at, `url must start with ${schemes.join("// or ")}//`));
    } else if (!isDecodable(address)) {
      found.push(issue(at, "url has a name or a password that is not percent-encoded UTF-8"));
    }
  }
  const { default_agent: chosen } = document;
  if (chosen !== undefined && !names.includes(chosen)) {
    found.push(issue("/default_agent", `no agent is named ${chosen}`));
  }
  const { witnesses, timestamps } = document.receipts ?? {};
  checkWitnesses(witnesses, timestamps, (pointer, message) => found.push(issue(pointer, message)));
  checkOutgoing(document, (pointer, message) => found.push(issue(pointer, message)));
  checkListeners(document, (pointer, message) => found.push(issue(pointer, message)));
  return found;
}

/** Checks the settings that only one kind of agent has. */
function checkKind(
  { kind, transport, runtime_agents: agents, routes }: AgentBlock,
  issue: (key: string, message: string) => void,
): void {
  if (kind === "copilotkit-runtime") {
    if (agents?.length === 0) issue("runtime_agents", "runtime_agents needs at least one agent");
    if (transport !== undefined && transport !== "post-sse") {
      issue("transport", "a CopilotKit runtime is spoken to by post-sse");
    }
    return;
  }
  const message = (key: string): string => `${key} needs kind: copilotkit-runtime`;
  if (agents !== undefined) issue("runtime_agents", message("runtime_agents"));
  if (routes !== undefined) issue("routes", message("routes"));
}

function isPublicKey(text: string): boolean {
  try {
    readPublicKey(text);
    return true;
  } catch {
    return false;
  }
}

/** Checks which listeners are reachable without authentication. */
function checkListeners(
  { listen, control, metrics, origins = [], access, limits }: ConfigDocument,
  issue: (pointer: string, message: string) => void,
): void {
  checkAccess(access, { host: listen?.host ?? LISTENERS.data.host, origins }, issue);
  checkLimits(limits, issue);
  checkOrigins(origins, issue);
  checkControl(control ?? {}, control?.host ?? LISTENERS.control.host, issue);
  if (metrics?.port === undefined && (metrics?.host ?? metrics?.names) !== undefined) {
    issue("/metrics", "metrics needs a port for a listener of its own");
  }
  const all = [
    { name: "listen", written: listen, ...LISTENERS.data, ...listen },
    { name: "control", written: control, ...LISTENERS.control, ...control },
    ...(metrics?.port === undefined
      ? []
      : [
          {
            name: "metrics",
            written: metrics,
            ...LISTENERS.metrics,
            ...metrics,
            port: metrics.port,
          },
        ]),
  ];
  all.forEach((one, index) => {
    const other = all
      .slice(0, index)
      .find(({ port, host }) => port !== 0 && port === one.port && overlap(host, one.host));
    if (other === undefined) return;
    const at = one.written?.port === undefined ? other : one;
    issue(
      `/${at.name}/port`,
      `${other.name} and ${one.name} both want port ${one.port}; give each its own`,
    );
  });
}

/** Whether two listeners could conflict on one port. */
function overlap(one: string, other: string): boolean {
  const [first, second] = [one, other].map((host) => (host === "localhost" ? "127.0.0.1" : host));
  return first === second || [one, other].some((host) => host === "0.0.0.0" || host === "::");
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
