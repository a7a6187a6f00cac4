import type { ContentBlock, PolicyDocument } from "../document/model.js";
import { DEFAULT_EVENT_CHARACTERS } from "../schema/content.js";
import type { ContentPart } from "../vocabulary/content-part.js";

/** The parts that are read by default. */
const DEFAULT_PARTS: readonly ContentPart[] = ["text", "reasoning"];

/** `ag_ui_content` with its defaults; `true` means looked for. */
export type ContentSettings = {
  readonly images: boolean;
  /** Hosts, in lower case, from which images may come. */
  readonly imageHosts: readonly string[];
  readonly links: boolean;
  readonly linksInErrors: boolean;
  readonly markup: boolean;
  readonly hidden: boolean;
  readonly sources: boolean;
  /** Names of sources are resolved before the decision: one counts unless it is known to lead outside. */
  readonly resolvesSources: boolean;
  /** Never shown. */
  readonly words: readonly string[];
  /** Characters of one message at most; infinite without a limit. */
  readonly maxCharacters: number;
  /** Characters that are read for one event at most. */
  readonly maxEventCharacters: number;
  /** A page shows no less of a text than an event brings at once. */
  readonly isByEvent: boolean;
  /** Which texts of a stream are read. */
  readonly parts: ReadonlySet<ContentPart>;
};

/** The settings of `ag_ui_content`; `undefined` where a policy has no such block, or switches it off. */
export function compileContentSettings({
  rules,
}: Pick<PolicyDocument, "rules">): ContentSettings | undefined {
  const block: ContentBlock | undefined = rules.ag_ui_content;
  if (block === undefined || block.enabled === false) return undefined;
  return {
    images: block.images !== "allow",
    imageHosts: (block.image_hosts ?? []).map((host) => host.toLowerCase()),
    links: block.links !== "allow",
    linksInErrors: block.links_in_errors === "block",
    markup: block.markup !== "allow",
    hidden: block.hidden !== "allow",
    sources: block.sources !== "allow",
    resolvesSources: block.sources === "resolve",
    words: block.words ?? [],
    maxCharacters: block.max_characters ?? Number.POSITIVE_INFINITY,
    maxEventCharacters: block.max_event_characters ?? DEFAULT_EVENT_CHARACTERS,
    isByEvent: block.text_appears === "event_by_event",
    parts: new Set(block.read ?? DEFAULT_PARTS),
  };
}
