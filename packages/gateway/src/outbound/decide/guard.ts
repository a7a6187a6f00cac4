import type { AgUiEvent } from "@countersign/wire";
import { createRunAutomaton, ORDER_RULES } from "@countersign/wire/order";
import type { OrderRuleId } from "@countersign/wire/order";

/** Looks at what is about to leave with the eyes of the client. */
export type Guard = {
  /** The event in a form the client accepts; `undefined` when there is none. */
  check(event: AgUiEvent): AgUiEvent | undefined;
};

/**
 * Checks the delivered stream with an automaton of its own. The agent's stream can be in order while the stream that is
 * left after withholding is not, and the official client throws at an event out of order. The check comes before the
 * receipt, so that the receipt names what leaves.
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
        // A withheld part may have named the owner of the unit; an event without a tag agrees with every owner.
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
