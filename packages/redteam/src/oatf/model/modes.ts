import type { Actor, Phase } from "./document.js";

const MODE = /^([a-z][a-z0-9_]*)_(?:server|client)$/;
const PROTOCOL = /^[a-z][a-z0-9_]*$/;
const MODES = ["mcp_server", "mcp_client", "a2a_server", "a2a_client", "ag_ui_client"] as const;
const PROTOCOLS = ["mcp", "a2a", "ag_ui"] as const;

/** The modes OATF 0.1 defines; others parse with a warning and are skipped at run time. */
export function knownModes(): ReadonlySet<string> {
  return new Set(MODES);
}

/** The protocols OATF 0.1 binds. */
export function knownProtocols(): ReadonlySet<string> {
  return new Set(PROTOCOLS);
}

/** Whether a text has the form of a mode (V-034). */
export function isMode(text: string): boolean {
  return MODE.test(text);
}

/** Whether a text has the form of a protocol (V-034). */
export function isProtocol(text: string): boolean {
  return PROTOCOL.test(text);
}

/** The protocol of a mode: `ag_ui` for `ag_ui_client`; `undefined` when the text is not a mode. */
export function extractProtocol(mode: string): string | undefined {
  return MODE.exec(mode)?.[1];
}

/** The mode a phase runs in: its own, or the one it inherits from its actor. */
export function resolvedMode(actor: Pick<Actor, "mode">, phase: Phase): string | undefined {
  return phase.mode ?? actor.mode;
}
