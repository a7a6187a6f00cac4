import type { PolicyDocument } from "../document/model.js";
import { hasAgUiBlock } from "../document/model.js";
import { compareAgUi } from "./ag-ui-block.js";
import type { BlockDiff, PolicyChange, PolicyDiff } from "./change.js";
import { compareNeeds } from "./class-needs.js";
import { compareClassify } from "./classify-block.js";
import { compareText } from "./compare-values.js";
import { compareConditions } from "./condition-block.js";
import { compareContent } from "./content-block.js";
import { joinEffects } from "./effect.js";
import { compareComponents, compareTools } from "./list-blocks.js";
import { compareMessages } from "./messages-block.js";
import { compareOrder } from "./order-block.js";
import { compareRequest } from "./request-block.js";
import { compareOnBlock, compareStrength, strengthOf } from "./strength.js";
import { compareApps, compareSurfaces } from "./surface-blocks.js";
import { compareVelocity } from "./velocity-block.js";

type Compare = (before: PolicyDocument, after: PolicyDocument) => PolicyChange[];

/** Blocks whose rules are evaluated for every event, in evaluation order. */
const EVENT_BLOCKS: readonly (readonly [block: string, compare: Compare])[] = [
  ["ag_ui", compareAgUi],
  ["ag_ui_inbound", compareInbound],
  ["ag_ui_order", compareOrder],
  ["ag_ui_messages", compareMessages],
  ["ag_ui_components", compareComponents],
  ["ag_ui_classify", compareClassify],
  ["velocity", compareVelocity],
  ["ag_ui_tools", compareTools],
  ["ag_ui_content", compareContent],
  ["ag_ui_conditions", compareConditions],
  ["ag_ui_surfaces", compareSurfaces],
  ["ag_ui_apps", compareApps],
];

/**
 * The differences in meaning between two resolved documents, with every default filled in: an
 * equivalent policy has no changes. An undecidable difference counts as both.
 */
export function comparePolicies(before: PolicyDocument, after: PolicyDocument): PolicyDiff {
  const isOpen = [before, after].map(isAsked);
  const events: readonly (readonly [string, Compare])[] =
    isOpen[0] === true && isOpen[1] === true ? EVENT_BLOCKS : [["ag_ui", compareClosed]];
  const blocks = [
    ...events,
    ["ag_ui_request", compareRequest] as const,
    ["document", compareHeads] as const,
  ]
    .map(([block, compare]): BlockDiff => {
      const changes = compare(before, after);
      return { block, changes, verdict: joinEffects(changes.map(({ effect }) => effect)) };
    })
    .filter(({ changes }) => changes.length > 0);
  return { verdict: joinEffects(blocks.map(({ verdict }) => verdict)), blocks };
}

/** Whether the rules are evaluated at all; otherwise everything is denied. */
function isAsked({ rules }: PolicyDocument): boolean {
  return rules.ag_ui === undefined ? hasAgUiBlock(rules) : rules.ag_ui.enabled !== false;
}

/** Without rules everything is denied, and the other settings do not matter. */
function compareClosed(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [wasOpen, isOpen] = [isAsked(before), isAsked(after)];
  const [old, now] = [before.mode ?? "enforce", after.mode ?? "enforce"];
  if (wasOpen === isOpen) return compareStrength("everything denied", old, now);
  const isDenied = (isOpen ? old : now) === "enforce";
  return [
    {
      setting: "enabled",
      kind: "changed",
      effect: isDenied ? (isOpen ? "looser" : "stricter") : "both",
      says: isOpen ? "everything denied → rules decide" : "rules decide → everything denied",
    },
  ];
}

function compareInbound(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [old, now] = [before, after].map((document) => {
    const own = strengthOf(document, document.rules.ag_ui_inbound);
    return own === "off" ? strengthOf(document, document.rules.ag_ui ?? {}) : own;
  });
  return [
    ...compareStrength("mode", old ?? "off", now ?? "off"),
    ...compareNeeds(before, after, "inbound"),
  ];
}

/** Texts for people, and blocks that are not about AG-UI. */
function compareHeads(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const guards = (document: PolicyDocument): string =>
    Object.keys(document.rules)
      .filter((block) => !block.startsWith("ag_ui") && block !== "velocity")
      .toSorted()
      .join(", ") || "none";
  return [
    ...compareText("name", before.name ?? "none", after.name ?? "none", "same"),
    ...compareText("blocks of other guards", guards(before), guards(after), "same"),
    ...compareOnBlock(before.on_block ?? "drop", after.on_block ?? "drop"),
  ];
}
