import { assertWithin } from "@countersign/core";
import type { AgUiEvent, RunAgentInput } from "@countersign/wire";

/**
 * The tool calls of one run: under which name each was opened, and its arguments once they are complete.
 *
 * Calls known from the request count too: an approved call may get its result in a later run.
 */
export class CallMemory {
  readonly names = new Map<string, string>();
  readonly arguments = new Map<string, string>();
  /** Made with the first call: most runs have none. */
  #partial: Map<string, string> | undefined;
  readonly #maxHeldBytes: number;
  #held = 0;

  constructor(input: RunAgentInput, maxHeldBytes: number) {
    this.#maxHeldBytes = maxHeldBytes;
    for (const message of input.messages) {
      if (message.role !== "assistant") continue;
      for (const call of message.toolCalls ?? []) this.names.set(call.id, call.function.name);
    }
  }

  /** Takes note of an event before it is classified. */
  see(event: AgUiEvent): void {
    if (event.type === "TOOL_CALL_START") {
      // A re-opened call keeps its first name: the person judged it by that one.
      if (!this.names.has(event.toolCallId)) this.names.set(event.toolCallId, event.toolCallName);
      this.#partial ??= new Map();
      this.#partial.set(event.toolCallId, "");
      this.arguments.delete(event.toolCallId);
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
      this.arguments.set(event.toolCallId, text);
    }
  }

  /** Forgets the arguments of a call that has been judged; only its name is needed later. */
  judged(toolCallId: string): void {
    this.arguments.delete(toolCallId);
  }
}
