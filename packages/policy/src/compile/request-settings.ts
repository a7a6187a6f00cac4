import type { PolicyDocument, PolicyMode, RequestBlock } from "../document/model.js";
import { createNameTable } from "../patterns/name-table.js";
import { blockSettings } from "./rule.js";

/** The checks of `ag_ui_request`; each can be set to observe. */
export const REQUEST_CHECKS = [
  "unknown_keys",
  "threads",
  "runs",
  "history",
  "tool_results",
  "resume",
  "approval",
  "tools",
  "state",
  "context",
  "forwarded_props",
  "actions",
] as const;

/** The name of one check. */
export type RequestCheckName = (typeof REQUEST_CHECKS)[number];

/** `ag_ui_request` with its defaults. The gateway applies them; nothing here reads a request. */
export type RequestSettings = {
  /** `off` only if the block has `enabled: false`. */
  mode(check: RequestCheckName): PolicyMode | "off";
  /** The handling of keys and content parts that AG-UI does not define. */
  readonly unknownKeys: "strip" | "refuse";
  readonly history: {
    readonly accept: "any" | "full" | "tail";
    readonly newRoles: ReadonlySet<string>;
    readonly greeting: "refuse" | "accept";
    readonly rollback: boolean;
    readonly unfinished: "accept" | "refuse";
    readonly interleaved: "accept" | "refuse";
  };
  readonly tools: {
    /** SHA-256 (hex) of each tool that a client may declare; `undefined` pins none. */
    readonly pinned: ReadonlyMap<string, string> | undefined;
    isServerTool(name: string): boolean;
  };
  readonly state: { readonly maxBytes: number; allowsKey(key: string): boolean };
  readonly context: {
    readonly maxEntries: number;
    readonly maxBytes: number;
    allowsDescription(description: string): boolean;
  };
  readonly forwardedProps: { readonly maxBytes: number; allowsKey(key: string): boolean };
  readonly actions: {
    /** Which clicks and requests of MCP Apps are accepted: those that the thread was shown, or any. */
    readonly accept: "shown" | "any";
    /** Whether an action that submits may be used more than once. */
    allowsRepeat(action: string): boolean;
  };
};

/** Fills in the defaults of `ag_ui_request`, which also apply without the block. */
export function compileRequestSettings(document: PolicyDocument): RequestSettings {
  const block: RequestBlock = document.rules.ag_ui_request ?? {};
  const { mode } = blockSettings(document, block);
  const { history, tools, state, context, forwarded_props: props, actions } = block;
  return {
    mode: (check) => (block.enabled === false ? "off" : (block[check]?.mode ?? mode)),
    unknownKeys: block.unknown_keys?.action ?? "strip",
    history: {
      accept: history?.accept ?? "any",
      newRoles: new Set(history?.new_roles ?? ["user", "tool"]),
      greeting: history?.greeting ?? "refuse",
      rollback: history?.rollback ?? false,
      unfinished: history?.unfinished ?? "accept",
      interleaved: history?.interleaved ?? "accept",
    },
    tools: {
      pinned: tools?.pinned === undefined ? undefined : new Map(Object.entries(tools.pinned)),
      isServerTool: matcher(tools?.server_tools ?? []),
    },
    state: {
      maxBytes: state?.max_bytes ?? 262_144,
      allowsKey: state?.keys === undefined ? () => true : matcher(state.keys),
    },
    context: {
      maxEntries: context?.max_entries ?? 100,
      maxBytes: context?.max_bytes ?? 65_536,
      allowsDescription:
        context?.descriptions === undefined ? () => true : matcher(context.descriptions),
    },
    forwardedProps: {
      maxBytes: props?.max_bytes ?? 65_536,
      // Integrations read the user, the model and stored conversations from here: nothing unless
      // listed.
      allowsKey: matcher(props?.allow ?? []),
    },
    actions: {
      accept: actions?.accept ?? "shown",
      allowsRepeat: matcher(actions?.repeat ?? []),
    },
  };
}

function matcher(patterns: readonly string[]): (name: string) => boolean {
  const table = createNameTable(patterns.map((pattern) => [pattern, true]));
  return (name) => table.find(name) === true;
}
