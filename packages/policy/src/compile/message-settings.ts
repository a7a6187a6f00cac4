import type {
  ListJudgement,
  MessagesBlock,
  PolicyDocument,
  UnknownAction,
} from "../document/model.js";
import type { Decision } from "./decision.js";
import { observed } from "./decision.js";
import { blockSettings, denials, isActive } from "./rule.js";

/** Roles that no agent uses. */
export type ForeignRole = "user" | "system" | "developer";

/** `ag_ui_messages` with its defaults, for the messages of a list. */
export type MessageSettings = {
  /**
   * The decision about a listed message that neither the request nor the thread contains; undefined
   * if it may pass.
   */
  unknown(role: ForeignRole): Decision | undefined;
};

/** Fills in the defaults of `ag_ui_messages`, which also apply without the block. */
export function compileMessageSettings(document: PolicyDocument): MessageSettings {
  const block: MessagesBlock = document.rules.ag_ui_messages ?? {};
  const { onBlock, mode } = blockSettings(document, block);
  const decisionOf = (setting: "unknown_user" | "unknown_system"): Decision | undefined => {
    const action = unknownAction(block, setting);
    if (action === "allow") return undefined;
    const reason =
      setting === "unknown_user"
        ? "a message in the person's name that they did not send on this thread"
        : "instructions that were not sent on this thread";
    const denial = denials(`ag_ui_messages.${setting}`, onBlock)("evaluation_failed", reason);
    return action === "observe" || mode === "observe" ? observed(denial) : denial;
  };
  const [user, system] = [decisionOf("unknown_user"), decisionOf("unknown_system")];
  return { unknown: (role) => (role === "user" ? user : system) };
}

/** How a policy evaluates message lists. */
export function listJudgement({ rules }: PolicyDocument): ListJudgement {
  const block = rules.ag_ui_messages;
  return (isActive(block) ? block.lists : undefined) ?? "whole";
}

/** The action for unknown messages; a disabled block uses the defaults. */
export function unknownAction(
  block: MessagesBlock | undefined,
  setting: "unknown_user" | "unknown_system",
): UnknownAction {
  return (isActive(block) ? block[setting] : undefined) ?? "block";
}
