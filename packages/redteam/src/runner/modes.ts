import { extractProtocol } from "../oatf/index.js";
import { createA2aClient } from "./a2a-client.js";
import { createA2aServer } from "./a2a-server.js";
import { createAgUiClient } from "./ag-ui-client.js";
import { createMcpClient } from "./mcp-client.js";
import { createMcpServer } from "./mcp-server.js";
import { isServer } from "./mode.js";
import type { ModeFactory } from "./mode.js";
import type { RunnerOptions } from "./options.js";

/** The modes that this runner performs. */
const MODES: ReadonlyMap<string, ModeFactory> = new Map([
  ["ag_ui_client", createAgUiClient],
  ["mcp_server", createMcpServer],
  ["mcp_client", createMcpClient],
  ["a2a_server", createA2aServer],
  ["a2a_client", createA2aClient],
]);

const NEEDS_SDK: ReadonlyMap<string, () => Promise<unknown>> = new Map([
  ["mcp", () => import("@modelcontextprotocol/sdk/types.js")],
]);

/** The mode of an actor, or why it is not performed. */
export async function findMode(
  mode: string,
  { servers, endpoints }: Pick<RunnerOptions, "servers" | "endpoints">,
): Promise<{ readonly create: ModeFactory } | { readonly problem: string }> {
  const create = MODES.get(mode);
  if (create === undefined) return { problem: `${mode} is not performed` };
  const protocol = extractProtocol(mode) ?? "";
  if (isServer(mode) && servers === undefined) {
    return {
      problem: `nothing tells the agent where the ${mode} is. Fix: --servers-file, --${protocol}-port or --servers-prop`,
    };
  }
  const isClient = !isServer(mode) && (protocol === "mcp" || protocol === "a2a");
  if (isClient && endpoints?.[protocol as "mcp" | "a2a"] === undefined) {
    return {
      problem: `the ${mode} needs the address of the agent's ${protocol.toUpperCase()} server. Fix: --${protocol}-target`,
    };
  }
  try {
    await NEEDS_SDK.get(protocol)?.();
  } catch {
    return {
      problem: `${mode} needs the optional packages of the red team, which are not installed. Fix: npm install @modelcontextprotocol/sdk @a2a-js/sdk`,
    };
  }
  return { create };
}
