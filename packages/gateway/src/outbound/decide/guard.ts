import type { AgUiEvent } from "@countersign/wire";
import { createRunAutomaton, ORDER_RULES } from "@countersign/wire/order";
import type { OrderRuleId } from "@countersign/wire/order";

/** Looks at what is about to leave with the eyes of the client. */
export type Guard = {
  /** The event in a form the client accepts; `undefined` when there is none. */
  check(event: AgUiEvent): AgUiEvent | undefined;
};

/**
 * A second automaton, over what is delivered: the agent's own stream being in order says nothing about
 * the stream that is left after something was withheld, and an event out of order makes the official
 * client throw. It looks before the receipt is written, so that the receipt names what really leaves.
 */
export function createGuard(): Guard {
  const automaton = createRunAutomaton();
  return {
    check: (event) => {
      let sound = event;
      for (const { rule, severity } of automaton.push(event)) {
        if (severity !== "error" || ORDER_RULES[rule as OrderRuleId].reference.startsWith("E")) {
          continue;
        }
        // Who owns a unit may have been said in a part that was withheld; no tag disagrees with none.
        if (rule === "owner/mismatch") sound = withoutTag(sound);
        else if (rule === "tool-call/parent-owner") sound = withoutTag(withoutParent(sound));
        else return undefined;
      }
      return sound;
    },
  };
}

function withoutTag(event: AgUiEvent): AgUiEvent {
  const { subagentRunId: _tag, ...rest } = event as AgUiEvent & { subagentRunId?: string };
  return rest as AgUiEvent;
}

function withoutParent(event: AgUiEvent): AgUiEvent {
  const { parentMessageId: _parent, ...rest } = event as AgUiEvent & { parentMessageId?: string };
  return rest as AgUiEvent;
}
