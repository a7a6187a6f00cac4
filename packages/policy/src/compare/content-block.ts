import type { ContentSettings } from "../content/settings.js";
import { compileContentSettings } from "../content/settings.js";
import type { PolicyDocument } from "../document/model.js";
import type { PolicyChange } from "./change.js";
import { compareChoice, compareLimit, compareNames } from "./compare-values.js";
import { coversSame } from "./covers.js";
import { compareBlocks } from "./strength.js";

const KINDS = ["images", "links", "markup", "hidden"] as const;
const ACTIONS = ["allow", "block"] as const;
const SOURCES = [...ACTIONS, "resolve"] as const;

/** Compares `ag_ui_content`. */
export function compareContent(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [old, now] = [compileContentSettings(before), compileContentSettings(after)];
  return compareBlocks(
    [before, after],
    [before.rules.ag_ui_content, after.rules.ag_ui_content],
    () => (old === undefined || now === undefined ? [] : compareSettings(old, now)),
  );
}

function compareSettings(before: ContentSettings, after: ContentSettings): PolicyChange[] {
  return [
    ...KINDS.flatMap((kind) =>
      compareChoice(kind, actionOf(before[kind]), actionOf(after[kind]), ACTIONS),
    ),
    ...compareChoice(
      "links_in_errors",
      actionOf(before.linksInErrors),
      actionOf(after.linksInErrors),
      ACTIONS,
    ),
    ...compareChoice("sources", sourcesOf(before), sourcesOf(after), SOURCES),
    // Hosts matter only while images are blocked.
    ...(before.images && after.images
      ? compareNames("image_hosts", before.imageHosts, after.imageHosts, "looser", coversSame)
      : []),
    ...compareNames("words", before.words, after.words, "stricter", coversSame),
    ...compareLimit("max_characters", before.maxCharacters, after.maxCharacters),
    ...compareLimit("max_event_characters", before.maxEventCharacters, after.maxEventCharacters),
    ...compareNames("read", [...before.parts], [...after.parts], "stricter", coversSame),
    ...compareChoice("text_appears", appears(before), appears(after), [
      "event_by_event",
      "letter_by_letter",
    ]),
  ];
}

function sourcesOf({ sources, resolvesSources }: ContentSettings): (typeof SOURCES)[number] {
  return resolvesSources ? "resolve" : actionOf(sources);
}

function actionOf(isLookedFor: boolean): (typeof ACTIONS)[number] {
  return isLookedFor ? "block" : "allow";
}

function appears({ isByEvent }: ContentSettings): "event_by_event" | "letter_by_letter" {
  return isByEvent ? "event_by_event" : "letter_by_letter";
}
