import type { JsonSchema } from "./json-schema.js";
import { choice, closed, list } from "./json-schema.js";
import { CONTENT_PARTS } from "../vocabulary/content-part.js";
import { BLOCK_HEADER } from "./shared.js";

/**
 * Characters that are read for one event where a policy does not say: every other run waits meanwhile. The text that
 * is slowest to read (references with leading zeros) takes about 0.5 µs for each on one core of a two-core machine.
 */
export const DEFAULT_EVENT_CHARACTERS = 500_000;

const ACTIONS = ["allow", "block"] as const;
const action = (description: string): JsonSchema => ({
  ...choice(description, ACTIONS),
  default: "block",
});

/** `ag_ui_content`: the content that text may not contain. */
export const AG_UI_CONTENT: JsonSchema = closed(
  "Content that text may not have, in one delta or across several. Each key blocks unless it is allow; links_in_errors blocks only if it is block.",
  {
    ...BLOCK_HEADER,
    images: action("Markdown images of other hosts, which a renderer loads without being asked."),
    image_hosts: list(
      "Hosts from which images may come, by their whole name.",
      { type: "string", description: "A host.", pattern: "^[A-Za-z0-9.-]{1,253}(:\\d{1,5})?$" },
      1000,
    ),
    links: action(
      "Addresses that run code or open other programs, and those with a name before the host.",
    ),
    links_in_errors: {
      ...choice(
        "Links of any kind in the errors of runs and subagents and in error envelopes: a page shows them as its own words.",
        ACTIONS,
      ),
      default: "allow",
    },
    markup: action("HTML that loads, runs or asks for something, outside of code."),
    hidden: action(
      "Control characters, reversed text and sentences in invisible characters; of a client only the last.",
    ),
    sources: {
      ...choice(
        "Content parts, of a client or an agent, whose address has no public name. With resolve the gateway also looks up names in a request, and blocks those that lead inside or nowhere.",
        [...ACTIONS, "resolve"],
      ),
      default: "block",
    },
    words: list(
      "Words that are never shown, such as a mark in the system prompt that no answer has a reason to repeat.",
      { type: "string", description: "As it is written.", minLength: 4, maxLength: 200 },
      100,
    ),
    read: {
      ...list(
        "Which texts of a stream are read: messages and errors, reasoning, answers of tools, activities, state, questions to the person, custom events, results of runs, metadata. By default the first two.",
        choice("A kind of text.", CONTENT_PARTS),
        CONTENT_PARTS.length,
      ),
      default: ["text", "reasoning"],
    },
    text_appears: {
      ...choice(
        "How a page shows a text that grows: letter by letter, so that code within a line counts as text until it is closed, or never less than an event brings at once.",
        ["letter_by_letter", "event_by_event"],
      ),
      default: "letter_by_letter",
    },
    max_characters: {
      type: "integer",
      description: "Characters of one message at most.",
      minimum: 1,
      maximum: 100_000_000,
    },
    max_event_characters: {
      type: "integer",
      description:
        "The maximum number of characters that the gateway reads for one event, message lists included; every other run waits for it. Texts that a list repeats from the client's request, or from the list before, are not counted.",
      minimum: 1000,
      maximum: 100_000_000,
      default: DEFAULT_EVENT_CHARACTERS,
    },
  },
);
