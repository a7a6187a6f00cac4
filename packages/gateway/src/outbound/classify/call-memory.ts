import { assertWithin } from "@countersign/core";
import type { ClassifyContext, ClientState } from "@countersign/policy";
import type { AgUiEvent } from "@countersign/wire";
import type { Run } from "../../event/run.js";
import { digestOf } from "../../thread/digest.js";
import { declaredTools, MAX_DECLARED_TOOLS } from "../../thread/thread-state.js";

type CallMemoryFacts = Pick<Run, "input" | "earlier" | "client" | "policy" | "limits">;

const NONE: ReadonlyMap<string, string> = new Map();

/**
 * The tool calls of a run, for classification: the name of each call, and its arguments once they are complete.
 *
 * Calls of the thread and of the request are included: an approved call may get its result in a later run.
 */
export class CallMemory implements ClassifyContext {
  readonly refinements: NonNullable<ClassifyContext["refinements"]>;
  readonly clientTools: ClientTools;
  readonly client: ClientState;
  // Created with the first call: most runs have none.
  #names: Map<string, string> | undefined;
  #arguments: Map<string, string> | undefined;
  #partial: Map<string, string> | undefined;
  readonly #maxHeldBytes: number;
  #held = 0;

  constructor({ input, earlier, client, policy, limits }: CallMemoryFacts) {
    this.client = client;
    this.refinements = policy.refinements;
    this.clientTools = clientToolsOf({ input, earlier, policy });
    this.#maxHeldBytes = limits.maxHeldBytes;
    const schemas = policy.document.rules.ag_ui_tools?.arguments ?? {};
    for (const [id, { name, isUnseen }] of earlier.calls) {
      // The gateway never validated its arguments against the schema, so it stays a call of an unknown tool.
      if (isUnseen === true && Object.hasOwn(schemas, name)) continue;
      this.#names ??= new Map();
      this.#names.set(id, name);
    }
    for (const message of input.messages) {
      if (message.role !== "assistant") continue;
      for (const call of message.toolCalls ?? []) {
        this.#names ??= new Map();
        this.#names.set(call.id, call.function.name);
      }
    }
  }

  get toolNames(): ReadonlyMap<string, string> {
    return this.#names ?? NONE;
  }

  get toolArguments(): ReadonlyMap<string, string> {
    return this.#arguments ?? NONE;
  }

  /** Records an event before it is classified. */
  see(event: AgUiEvent): void {
    if (event.type === "TOOL_CALL_START") {
      this.#names ??= new Map();
      // A re-opened call keeps its first name: the person judged the call by that name.
      if (!this.#names.has(event.toolCallId)) this.#names.set(event.toolCallId, event.toolCallName);
      this.#partial ??= new Map();
      this.#partial.set(event.toolCallId, "");
      this.#arguments?.delete(event.toolCallId);
    } else if (event.type === "TOOL_CALL_ARGS") {
      this.#held += event.delta.length;
      assertWithin("maxHeldBytes", this.#held, this.#maxHeldBytes);
      this.#partial ??= new Map();
      const soFar = this.#partial.get(event.toolCallId) ?? "";
      this.#partial.set(event.toolCallId, soFar + event.delta);
    } else if (event.type === "TOOL_CALL_END") {
      const text = this.#partial?.get(event.toolCallId) ?? "";
      this.#partial?.delete(event.toolCallId);
      this.#held -= text.length;
      this.#arguments ??= new Map();
      this.#arguments.set(event.toolCallId, text);
    }
  }

  /** Drops the arguments of a judged call; only its name is needed later. */
  judged(toolCallId: string): void {
    this.#arguments?.delete(toolCallId);
  }
}

export type ClientTools = { has(name: string): boolean };

type ToolFacts = Pick<Run, "input" | "earlier" | "policy">;

/**
 * The tools of the client: those that any request of the thread declared. A request or a stream that declares no tools does not give them
 * to the agent. If a thread has more tools than the gateway keeps, every tool that the policy does not give to the agent counts as the
 * client's.
 */
export function clientToolsOf({ input, earlier, policy }: ToolFacts): ClientTools {
  const declared = declaredTools(input);
  const isUnknown = earlier.tools.size >= MAX_DECLARED_TOOLS;
  const { isServerTool } = policy.request.tools;
  return {
    has: (name) =>
      declared.has(name) || earlier.tools.has(digestOf(name)) || (isUnknown && !isServerTool(name)),
  };
}
