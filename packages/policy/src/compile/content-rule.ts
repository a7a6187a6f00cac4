import type { JsonObject, JsonValue } from "@countersign/core";
import type { ContentFinding, ContentKind } from "../content/finding.js";
import { createContentReader } from "../content/reader.js";
import { readRequest } from "../content/request.js";
import { findInTexts } from "../content/shown-texts.js";
import type { ContentSettings } from "../content/settings.js";
import { compileContentSettings } from "../content/settings.js";
import type { PolicyDocument } from "../document/model.js";
import { shownPartOf } from "../surface/view.js";
import type { SurfaceView } from "../surface/view.js";
import type { Denial } from "./decision.js";
import type { DecisionFacts } from "./facts.js";
import type { Rule } from "./rule.js";
import { blockSettings, denials } from "./rule.js";
import { nameOf } from "./surface-check.js";

const REASONS: Readonly<
  Record<Exclude<ContentKind, "max_characters" | "max_event_characters">, string>
> = {
  images: "text holds an image of another host",
  links: "text holds an address that runs code or hides where it leads",
  links_in_errors: "error messages carry no links",
  markup: "text holds active markup",
  hidden: "text holds characters that a person cannot see",
  words: "text holds a word that is never shown",
  sources: "a content part points to an address without a public name",
};

/** The setting that allows the finding. */
const SETTINGS: Readonly<Record<ContentKind, string>> = {
  images: "its host in image_hosts, or images: allow,",
  links: "links: allow",
  links_in_errors: "links_in_errors: allow",
  markup: "markup: allow",
  hidden: "hidden: allow",
  words: "words without it",
  sources: "sources: allow",
  max_characters: "a higher max_characters",
  max_event_characters: "a higher max_event_characters",
};

/** Compiles `ag_ui_content`: the content that text may not contain, in either direction. */
export function compileContentRule(document: PolicyDocument): Rule[] {
  const settings = compileContentSettings(document);
  if (settings === undefined) return [];
  const { mode, onBlock } = blockSettings(document, document.rules.ag_ui_content);
  const what: Readonly<Record<ContentKind, string>> = {
    ...REASONS,
    max_characters: `message is longer than ${settings.maxCharacters} characters`,
    max_event_characters: `event brings more than ${settings.maxEventCharacters} characters of text`,
  };
  const refuse = (finding: ContentFinding): Denial => {
    const { kind } = finding;
    const reason = `${what[kind]}${placeOf(finding)}; ag_ui_content with ${SETTINGS[kind]} lets it through`;
    const denial = denials(`ag_ui_content.${kind}`, onBlock)("content_refused", reason);
    return finding.part === undefined ? denial : { ...denial, path: finding.part };
  };
  // Text of a component is put together from bindings: the parts of an image may come apart.
  const inSurface = ({ facts }: SurfaceView): Denial | undefined => {
    for (const component of facts.components) {
      const finding = findInTexts([component.label, ...component.texts], settings);
      if (finding === undefined) continue;
      const denial = refuse(finding);
      const reason = `${nameOf(component)}: ${denial.reason}`;
      return { ...denial, reason, component: shownPartOf(component) };
    }
    return undefined;
  };
  return [
    {
      id: "ag_ui_content",
      block: "ag_ui_content",
      mode,
      perAspect: false,
      check(facts) {
        const finding = contentOf(facts, settings);
        if (finding !== null) return refuse(finding);
        return facts.surface === undefined ? undefined : inSurface(facts.surface);
      },
      saw: (facts) => ({ found: seen(contentOf(facts, settings)) }),
    },
  ];
}

/** The finding in the message so far; an event that is evaluated alone is scanned here. */
function contentOf(facts: DecisionFacts, settings: ContentSettings): ContentFinding | null {
  if (facts.content !== undefined) return facts.content;
  const event: JsonObject | undefined = facts.variables?.event;
  if (event === undefined) return null;
  return facts.event.direction === "inbound"
    ? readRequest(event, settings, facts.publicHosts)
    : createContentReader(settings).read(event);
}

/**
 * The position, never the content: the offset counts from the start of the message, however it was
 * split.
 */
function placeOf({ offset, part }: ContentFinding): string {
  const within = part === undefined ? "" : ` in ${part}`;
  return offset === undefined ? within : `${within} at character ${offset + 1}`;
}

function seen(finding: ContentFinding | null): JsonValue {
  if (finding === null) return null;
  const { kind, offset, part } = finding;
  return {
    kind,
    ...(offset === undefined ? {} : { offset }),
    ...(part === undefined ? {} : { part }),
  };
}
