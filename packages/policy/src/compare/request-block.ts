import { compileRequestSettings, REQUEST_CHECKS } from "../compile/request-settings.js";
import type { PolicyDocument, RequestBlock } from "../document/model.js";
import type { PolicyChange } from "./change.js";
import {
  compareChoice,
  compareFlag,
  compareLimit,
  compareNames,
  compareText,
} from "./compare-values.js";
import { coversGlob, coversSame } from "./covers.js";
import { compareListed } from "./listed-properties.js";
import { compareStrength } from "./strength.js";

const ACCEPTANCE = ["accept", "refuse"] as const;
const ACTIONS = ["any", "shown"] as const;
const UNKNOWN_KEYS = ["strip", "refuse"] as const;

/** Compares `ag_ui_request`, whose checks also apply without the block. */
export function compareRequest(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [old, now] = [compileRequestSettings(before), compileRequestSettings(after)];
  const [left, right]: RequestBlock[] = [
    before.rules.ag_ui_request ?? {},
    after.rules.ag_ui_request ?? {},
  ];
  if (left === undefined || right === undefined) return [];
  return [
    ...REQUEST_CHECKS.flatMap((check) => compareStrength(check, old.mode(check), now.mode(check))),
    ...compareChoice("unknown_keys.action", old.unknownKeys, now.unknownKeys, UNKNOWN_KEYS),
    ...compareAccepted(old.history.accept, now.history.accept),
    ...compareNames(
      "history.new_roles",
      [...old.history.newRoles],
      [...now.history.newRoles],
      "looser",
      coversSame,
    ),
    ...compareChoice("history.greeting", old.history.greeting, now.history.greeting, ACCEPTANCE),
    ...compareFlag("without history.rollback", !old.history.rollback, !now.history.rollback),
    ...compareChoice(
      "history.unfinished",
      old.history.unfinished,
      now.history.unfinished,
      ACCEPTANCE,
    ),
    ...compareChoice(
      "history.interleaved",
      old.history.interleaved,
      now.history.interleaved,
      ACCEPTANCE,
    ),
    ...comparePinned(left.tools?.pinned, right.tools?.pinned),
    ...compareNames(
      "tools.server_tools",
      left.tools?.server_tools ?? [],
      right.tools?.server_tools ?? [],
      "stricter",
      coversGlob,
    ),
    ...compareLimit("state.max_bytes", old.state.maxBytes, now.state.maxBytes),
    ...compareNames(
      "state.keys",
      left.state?.keys ?? "any",
      right.state?.keys ?? "any",
      "looser",
      coversGlob,
    ),
    ...compareLimit("context.max_entries", old.context.maxEntries, now.context.maxEntries),
    ...compareLimit("context.max_bytes", old.context.maxBytes, now.context.maxBytes),
    ...compareNames(
      "context.descriptions",
      left.context?.descriptions ?? "any",
      right.context?.descriptions ?? "any",
      "looser",
      coversGlob,
    ),
    ...compareNames(
      "forwarded_props.allow",
      left.forwarded_props?.allow ?? [],
      right.forwarded_props?.allow ?? [],
      "looser",
      coversGlob,
    ),
    ...compareListed(before, after),
    ...compareLimit(
      "forwarded_props.max_bytes",
      old.forwardedProps.maxBytes,
      now.forwardedProps.maxBytes,
    ),
    ...compareChoice("actions.accept", old.actions.accept, now.actions.accept, ACTIONS),
    ...compareNames(
      "actions.repeat",
      left.actions?.repeat ?? [],
      right.actions?.repeat ?? [],
      "looser",
      coversGlob,
    ),
  ];
}

function compareAccepted(before: string, after: string): PolicyChange[] {
  const effect = before === "any" ? "stricter" : after === "any" ? "looser" : "both";
  return compareText("history.accept", before, after, effect);
}

type Pinned = { [tool: string]: string } | undefined;

/** With the list, a client may declare only listed tools, unchanged. */
function comparePinned(before: Pinned, after: Pinned): PolicyChange[] {
  const names = (pinned: Pinned): readonly string[] | "any" =>
    pinned === undefined ? "any" : Object.keys(pinned);
  const others = Object.entries(before ?? {}).filter(
    ([tool, hash]) => after !== undefined && Object.hasOwn(after, tool) && after[tool] !== hash,
  );
  return [
    ...compareNames("tools.pinned", names(before), names(after), "looser", coversSame),
    ...others.map(([tool]): PolicyChange => ({
      setting: `tools.pinned ${tool}`,
      kind: "changed",
      effect: "both",
      says: "another declaration",
    })),
  ];
}
