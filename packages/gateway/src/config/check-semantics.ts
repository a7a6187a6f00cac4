import { parseUrl } from "@countersign/core";
import { OPERATOR_AGENT } from "@countersign/policy";
import type { DocumentIssue } from "@countersign/policy/yaml";
import { checkAccess, checkControl, checkOrigins } from "./access.js";
import { LISTENERS } from "./document.js";
import type { AgentBlock, ConfigDocument } from "./document.js";
import { checkLimits } from "./listen-limits.js";

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
    const { url, transport } = document.agents[name] as AgentBlock;
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
  const { tracing } = document;
  if (tracing !== undefined && !/^https?:/u.test(schemeOf(tracing.endpoint))) {
    found.push(issue("/tracing/endpoint", "endpoint must start with http:// or https://"));
  }
  checkListeners(document, (pointer, message) => found.push(issue(pointer, message)));
  return found;
}

/** Checks which listeners are reachable without authentication. */
function checkListeners(
  { listen, control, origins = [], access, limits }: ConfigDocument,
  issue: (pointer: string, message: string) => void,
): void {
  checkAccess(access, { host: listen?.host ?? LISTENERS.data.host, origins }, issue);
  checkLimits(limits, issue);
  checkOrigins(origins, issue);
  const allowsCleartext = control?.i_understand_that_the_admin_token_travels_in_clear === true;
  checkControl(control?.host ?? LISTENERS.control.host, allowsCleartext, issue);
  const data = { ...LISTENERS.data, ...listen };
  const operators = { ...LISTENERS.control, ...control };
  if (data.port !== 0 && data.port === operators.port && overlap(data.host, operators.host)) {
    issue(
      control?.port === undefined ? "/listen/port" : "/control/port",
      `listen and control both want port ${data.port}; give each its own`,
    );
  }
}

/** Whether two listeners could conflict on one port. */
function overlap(one: string, other: string): boolean {
  const [first, second] = [one, other].map((host) => (host === "localhost" ? "127.0.0.1" : host));
  return first === second || [one, other].some((host) => host === "0.0.0.0" || host === "::");
}

function schemeOf(address: string): string {
  return parseUrl(address)?.protocol ?? "";
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
