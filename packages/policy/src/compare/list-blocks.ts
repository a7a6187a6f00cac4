import type {
  ComponentsBlock,
  NameLists,
  PolicyDocument,
  ToolQuarantine,
  ToolsBlock,
} from "../document/model.js";
import { canonicalJson } from "@countersign/core";
import { compileLists } from "../compile/tool-rules.js";
import { isGlob } from "../patterns/glob.js";
import { isPlainName } from "../patterns/look-alike.js";
import type { PolicyChange } from "./change.js";
import type { Names } from "./compare-values.js";
import { compareFlag, compareLimit, compareNames } from "./compare-values.js";
import { coversGlob, coversPrefix, coversSame } from "./covers.js";
import { reverseOf } from "./effect.js";
import { compareBlocks } from "./strength.js";

/** Compares `ag_ui_components`. */
export function compareComponents(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  return compareBlocks(
    [before, after],
    [before.rules.ag_ui_components, after.rules.ag_ui_components],
    (old, now) => {
      const [left, right] = [componentsOf(old), componentsOf(now)];
      return [
        ...compareNames(
          "allow_components",
          left.components,
          right.components,
          "looser",
          coversPrefix,
        ),
        ...compareNames("allow_ids", left.ids, right.ids, "looser", coversPrefix),
        ...compareNames(
          "block_components",
          old.block_components ?? [],
          now.block_components ?? [],
          "stricter",
          coversPrefix,
        ),
        ...compareNames(
          "block_ids",
          old.block_ids ?? [],
          now.block_ids ?? [],
          "stricter",
          coversPrefix,
        ),
      ];
    },
  );
}

function componentsOf(block: ComponentsBlock): { components: Names; ids: Names } {
  const { allow_components: components, allow_ids: ids } = block;
  if (block.default === "allow") return { components: "any", ids: "any" };
  if (components === undefined && ids === undefined) return { components: [], ids: [] };
  return { components: components ?? "any", ids: ids ?? "any" };
}

/** Compares `ag_ui_tools`. */
export function compareTools(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  return compareBlocks(
    [before, after],
    [before.rules.ag_ui_tools, after.rules.ag_ui_tools],
    (old, now) => [
      ...compareLists("call", old.call, now.call),
      ...compareLists("declare", old.declare, now.declare),
      ...compareSpelled("call", [old.call, guardedBy(old)], [now.call, guardedBy(now)]),
      ...compareSpelled("declare", [old.declare, []], [now.declare, []]),
      ...compareFlag(
        "require_advertised",
        old.require_advertised === true,
        now.require_advertised === true,
      ),
      ...compareFlag(
        "without allow_agent_results",
        old.allow_agent_results !== true,
        now.allow_agent_results !== true,
      ),
      ...compareArguments(old.arguments ?? {}, now.arguments ?? {}),
      ...compareQuarantine(old.quarantine, now.quarantine),
    ],
  );
}

function compareQuarantine(
  before: ToolQuarantine | undefined,
  after: ToolQuarantine | undefined,
): PolicyChange[] {
  const setting = "quarantine";
  if (before === undefined || after === undefined) {
    return compareFlag(setting, before !== undefined, after !== undefined);
  }
  return [
    ...compareLimit(`${setting}.denials`, before.denials, after.denials),
    // A longer window contains more denials.
    ...compareLimit(`${setting}.window_seconds`, before.window_seconds, after.window_seconds).map(
      (change): PolicyChange => ({ ...change, effect: reverseOf(change.effect) }),
    ),
    ...compareNames(
      `${setting}.closes`,
      before.closes ?? "any",
      after.closes ?? "any",
      "stricter",
      coversGlob,
    ),
  ];
}

function compareLists(
  setting: string,
  before: NameLists | undefined,
  after: NameLists | undefined,
): PolicyChange[] {
  return [
    ...compareNames(`${setting}.allow`, allowedBy(before), allowedBy(after), "looser", coversGlob),
    ...compareNames(
      `${setting}.block`,
      before?.block ?? [],
      after?.block ?? [],
      "stricter",
      coversGlob,
    ),
  ];
}

function guardedBy(block: ToolsBlock): string[] {
  return Object.keys(block.arguments ?? {});
}

type SpelledLists = readonly [lists: NameLists | undefined, guarded: readonly string[]];

/**
 * Names that pass only because `allow` lists them exactly: a wildcard or a default may see them as
 * a look-alike of another name.
 */
function compareSpelled(
  setting: string,
  before: SpelledLists,
  after: SpelledLists,
): PolicyChange[] {
  const needed = ([lists, guarded]: SpelledLists): string[] => {
    const { allow = [], ...rest } = lists ?? {};
    const mayOtherwise = compileLists({ ...rest, default: "allow" }, guarded);
    return allow.filter((name) => !isGlob(name) && (!isPlainName(name) || !mayOtherwise(name)));
  };
  const name = `${setting}.allow look-alikes`;
  return compareNames(name, needed(before), needed(after), "looser", coversSame);
}

function allowedBy(lists: NameLists | undefined): Names {
  if (lists === undefined || lists.default === "allow") return "any";
  return lists.allow ?? [];
}

/** In general it is undecidable which of two schemas accepts more. */
function compareArguments(
  before: NonNullable<ToolsBlock["arguments"]>,
  after: NonNullable<ToolsBlock["arguments"]>,
): PolicyChange[] {
  const tools = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return tools.flatMap((tool): PolicyChange[] => {
    const setting = `arguments ${tool}`;
    const [old, now] = [before, after].map((schemas) =>
      Object.hasOwn(schemas, tool) ? schemas[tool] : undefined,
    );
    if (old === undefined) {
      return [{ setting, kind: "added", effect: "stricter", says: "has a schema from now on" }];
    }
    if (now === undefined) {
      return [{ setting, kind: "removed", effect: "looser", says: "has no schema any more" }];
    }
    if (canonicalJson(old) === canonicalJson(now)) return [];
    return [{ setting, kind: "changed", effect: "both", says: "another schema: may be either" }];
  });
}
