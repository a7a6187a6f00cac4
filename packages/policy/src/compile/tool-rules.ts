import type { JsonObject } from "@countersign/core";
import type { EventFacts, ToolCallFacts } from "../classify/facts.js";
import type { NameLists, PolicyDocument, ToolsBlock } from "../document/model.js";
import { isPlainName } from "../patterns/look-alike.js";
import { createNameTable } from "../patterns/name-table.js";
import type { NameTable } from "../patterns/name-table.js";
import { compileArgumentSchema } from "../tools/argument-schema.js";
import type { ArgumentCheck } from "../tools/argument-schema.js";
import type { Denial } from "./decision.js";
import type { Rule } from "./rule.js";
import { blockSettings, denials, isActive } from "./rule.js";

/** The tool rules, and the tools with a schema. */
export type CompiledTools = {
  readonly rules: Rule[];
  readonly schemas: ReadonlySet<string>;
  readonly quarantineMs?: number | undefined;
};

/** Compiles `ag_ui_tools`. */
export function compileToolRules(document: PolicyDocument): CompiledTools {
  const block: ToolsBlock | undefined = document.rules.ag_ui_tools;
  if (!isActive(block)) return { rules: [], schemas: new Set() };
  const { mode, onBlock } = blockSettings(document, block);
  const schemas = new Map<string, ArgumentCheck>();
  for (const [tool, schema] of Object.entries(block.arguments ?? {})) {
    schemas.set(tool, compileArgumentSchema(schema as JsonObject));
  }
  const judge = createCallJudge(block, schemas, denials("ag_ui_tools.call", onBlock));
  const mayDeclare = compileLists(block.declare);
  const undeclared = denials("ag_ui_tools.declare", onBlock)(
    "tool_declaration_not_allowed",
    "tool may not be declared by this client",
  );
  const rules: Rule[] = [
    ...quarantineRule(block, { mode, onBlock }),
    {
      id: "ag_ui_tools.call",
      block: "ag_ui_tools",
      mode,
      perAspect: false,
      check({ event }) {
        const { toolCalls } = event;
        if (toolCalls === undefined) return undefined;
        for (const call of toolCalls) {
          const denial = judge(event, call);
          if (denial === undefined) continue;
          return toolCalls.length === 1 ? denial : { ...denial, tool: call.name };
        }
        return undefined;
      },
      saw: ({ event }) => ({
        tools: (event.toolCalls ?? []).map(({ name, byClient, state }) => ({
          name,
          by_client: byClient,
          arguments: state,
          schema: schemas.has(name),
        })),
      }),
    },
    {
      id: "ag_ui_tools.declare",
      block: "ag_ui_tools",
      mode,
      perAspect: false,
      check({ event }) {
        const tool = event.declaredTools?.find((name) => !mayDeclare(name));
        return tool === undefined ? undefined : { ...undeclared, tool };
      },
      saw: ({ event }) => ({ declared: [...(event.declaredTools ?? [])] }),
    },
  ];
  const quarantineMs = block.quarantine && block.quarantine.window_seconds * 1000;
  return { rules, schemas: new Set(schemas.keys()), quarantineMs };
}

/** Events that open a call, or contain the decision about a held one. */
const OPENING: ReadonlySet<string> = new Set([
  "TOOL_CALL_START",
  "TOOL_CALL_CHUNK",
  "TOOL_CALL_END",
]);

function quarantineRule(
  { quarantine }: ToolsBlock,
  { mode, onBlock }: ReturnType<typeof blockSettings>,
): Rule[] {
  if (quarantine === undefined) return [];
  const { denials: most, closes } = quarantine;
  const closed = closes && createNameTable(closes.map((name) => [name, true]));
  const isClosed = (name: string): boolean =>
    closed === undefined || closed.findAlike(name) === true || !isPlainName(name);
  const denial = denials("ag_ui_tools.quarantine", onBlock)(
    "tools_quarantined",
    `tools are closed on this thread after ${most} denied calls in ${quarantine.window_seconds} seconds`,
  );
  return [
    {
      id: "ag_ui_tools.quarantine",
      block: "ag_ui_tools",
      mode,
      perAspect: false,
      check({ event, deniedCalls = 0 }) {
        // Written so that NaN denies.
        if (deniedCalls < most || !OPENING.has(event.source)) return undefined;
        return event.toolCalls?.some(({ name }) => isClosed(name)) === true ? denial : undefined;
      },
      saw: ({ deniedCalls = 0 }) => ({ denied_calls: deniedCalls, denials: most }),
    },
  ];
}

function createCallJudge(
  block: ToolsBlock,
  schemas: ReadonlyMap<string, ArgumentCheck>,
  make: ReturnType<typeof denials>,
): (event: EventFacts, call: ToolCallFacts) => Denial | undefined {
  const mayCall = compileLists(block.call, Object.keys(block.arguments ?? {}));
  const notAllowed = make("tool_not_allowed", "tool may not be called");
  const notAdvertised = make("tool_not_advertised", "tool was not advertised by the client");
  const forged = make("tool_result_forged", "only the client can answer this tool");
  const incomplete = make("tool_arguments_incomplete", "tool arguments are not complete");
  const unparsable = make("tool_arguments_unparsable", "tool arguments are not valid JSON");
  const invalid = make("tool_arguments_invalid", "tool arguments do not fit their schema");
  return (event, call) => {
    if (!mayCall(call.name)) return notAllowed;
    if (block.require_advertised === true && !call.byClient) return notAdvertised;
    if (
      event.source === "TOOL_CALL_RESULT" &&
      call.byClient &&
      block.allow_agent_results !== true
    ) {
      return forged;
    }
    const check = schemas.get(call.name);
    if (check === undefined) return undefined;
    if (call.state === "whole") return check(call.arguments ?? null) ? undefined : invalid;
    if (call.state === "unparsable") return unparsable;
    // The start has the decision for the whole call; a call with unknown arguments has none.
    return event.source === "TOOL_CALL_START" || event.source === "TOOL_CALL_CHUNK"
      ? incomplete
      : undefined;
  };
}

/**
 * The names that may pass. `guarded` are those that pass only under their own condition.
 *
 * A name that looks like a blocked or guarded one, or has characters beyond plain ASCII, passes
 * only if `allow` lists it exactly. A wildcard or `default: allow` was written without that name in
 * mind.
 */
export function compileLists(
  lists: NameLists | undefined,
  guarded: readonly string[] = [],
): (name: string) => boolean {
  const { allow = [], block = [], default: otherwise } = lists ?? { default: "allow" };
  const tableOf = (names: readonly string[]): NameTable<true> =>
    createNameTable(names.map((name) => [name, true]));
  const [allowed, blocked, restricted] = [allow, block, [...block, ...guarded]].map(tableOf) as [
    NameTable<true>,
    NameTable<true>,
    NameTable<true>,
  ];
  const open = otherwise === "allow";
  return (name) => {
    if (blocked.find(name) === true) return false;
    if (allowed.names(name)) return true;
    if (!open && allowed.find(name) !== true) return false;
    if (restricted.size === 0 && (lists === undefined || open)) return true;
    if (restricted.names(name)) return true;
    return isPlainName(name) && restricted.findAlike(name) !== true;
  };
}
