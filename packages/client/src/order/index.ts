import { CountersignError } from "@countersign/core";
import { createRunAutomaton } from "@countersign/wire/order";
import "../base/errors.js";
import type { OrderCheck } from "../stream/options.js";

/**
 * Judges each stream by every ordering rule that the official client has, and fails the run at the first
 * broken one. For agents without a gateway before them; a gateway has judged already.
 */
export function checkOrder(options: { readonly strict?: boolean } = {}): OrderCheck {
  const { strict = false } = options;
  return (input) => {
    const automaton = createRunAutomaton({ input, strict });
    return (event) => {
      for (const { rule, severity, message, eventNumber } of automaton.push(event)) {
        if (severity === "error") {
          throw new CountersignError("ERR_CLIENT_ORDER", message, { rule, eventNumber });
        }
      }
    };
  };
}
