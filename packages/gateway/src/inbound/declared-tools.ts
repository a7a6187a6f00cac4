import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { RequestSettings } from "@countersign/policy";
import type { RunAgentInput, Tool } from "@countersign/wire";
import type { ThreadState } from "../thread/thread-state.js";
import type { Finding, FindingCode } from "./finding.js";
import { isPlainKey, pointerTo } from "./finding.js";

/** A model confuses names with look-alike letters, so a name must be plain ASCII. */
const PLAIN = /^[\x21-\x7e]{1,128}$/;

/** The hash under which a policy pins a tool: SHA-256 (hex) of its canonical JSON. */
export function toolHash(tool: Tool): string {
  return sha256Hex(canonicalJson(tool as unknown as JsonValue));
}

/** Checks the tools that a client declares against the policy and against the agent's own tools. */
export function reviewTools(
  { tools = [] }: RunAgentInput,
  { calls }: ThreadState,
  settings: RequestSettings["tools"],
): Finding[] {
  const findings: Finding[] = [];
  if (tools.length === 0) return findings;
  const agents = new Set<string>();
  for (const call of calls.values()) if (call.isAgents === true) agents.add(plain(call.name));
  const names = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const { name } = tool;
    const find = (code: FindingCode, reason: string, remedy?: string): void =>
      void findings.push({ check: "tools", code, reason, at: pointerTo("tools", index), remedy });
    if (!PLAIN.test(name)) {
      find("ERR_TOOLS_NAME", `tool ${index} has a name that is not plain ASCII, or too long`);
    } else if (names.has(plain(name))) {
      find("ERR_TOOLS_NAME", `tool ${index} has the name of another`);
    }
    names.add(plain(name));
    if (settings.isServerTool(name) || settings.isServerTool(plain(name))) {
      find("ERR_TOOLS_SHADOWED", `tool ${index} takes the name of a tool of the agent's own`);
    } else if (agents.has(plain(name))) {
      find(
        "ERR_TOOLS_SHADOWED",
        `tool ${index} takes the name of a tool the agent answered itself`,
      );
    }
    const { pinned } = settings;
    if (pinned !== undefined && pinned.get(name) !== toolHash(tool)) {
      const hash = toolHash(tool);
      const entry = isPlainKey(name) ? `${name}: ${hash}` : hash;
      const remedy = `review the tool, then add to the policy under rules: ag_ui_request: { tools: { pinned: { ${entry} } } }`;
      find("ERR_TOOLS_UNPINNED", `tool ${index} is not pinned; its hash is ${hash}`, remedy);
    }
  }
  return findings;
}

function plain(name: string): string {
  return name.toLowerCase();
}
