import type { JsonObject } from "@countersign/core";
import type { ContentKind } from "../content/finding.js";
import { createContentReader } from "../content/reader.js";
import { readRequest } from "../content/request.js";
import type { ContentSettings } from "../content/settings.js";
import { compileContentSettings } from "../content/settings.js";
import type { PolicyDocument } from "../document/model.js";
import type { Denial } from "./decision.js";
import type { DecisionFacts } from "./facts.js";
import type { Rule } from "./rule.js";
import { blockSettings, denials } from "./rule.js";

const REASONS: Readonly<Record<Exclude<ContentKind, "max_characters">, string>> = {
  images: "text holds an image of another host",
  links: "text holds an address that runs code or hides where it leads",
  markup: "text holds active markup",
  hidden: "text holds characters that a person cannot see",
  words: "text holds a word that is never shown",
  sources: "a content part points into the agent's network",
};

/** Compiles `ag_ui_content`: what text may not carry, in either direction. */
export function compileContentRule(document: PolicyDocument): Rule[] {
  const settings = compileContentSettings(document);
  if (settings === undefined) return [];
  const { mode, onBlock } = blockSettings(document, document.rules.ag_ui_content);
  const denialFor = (kind: ContentKind, reason: string): Denial =>
    denials(`ag_ui_content.${kind}`, onBlock)("content_refused", reason);
  const tooLong = `message is longer than ${settings.maxCharacters} characters`;
  const refused: Readonly<Record<ContentKind, Denial>> = {
    images: denialFor("images", REASONS.images),
    links: denialFor("links", REASONS.links),
    markup: denialFor("markup", REASONS.markup),
    hidden: denialFor("hidden", REASONS.hidden),
    words: denialFor("words", REASONS.words),
    sources: denialFor("sources", REASONS.sources),
    max_characters: denialFor("max_characters", tooLong),
  };
  return [
    {
      id: "ag_ui_content",
      block: "ag_ui_content",
      mode,
      perAspect: false,
      check(facts) {
        const kind = contentOf(facts, settings);
        return kind === null ? undefined : refused[kind];
      },
      saw: (facts) => ({ found: contentOf(facts, settings) }),
    },
  ];
}

/** What was found in the message so far; who judges one event alone has it read here. */
function contentOf(facts: DecisionFacts, settings: ContentSettings): ContentKind | null {
  if (facts.content !== undefined) return facts.content;
  const event: JsonObject | undefined = facts.variables?.event;
  if (event === undefined) return null;
  return facts.event.direction === "inbound"
    ? readRequest(event, settings)
    : createContentReader(settings).read(event);
}
