import type { ContentBlock, PolicyDocument } from "../document/model.js";

/** `ag_ui_content` with its defaults; `true` means looked for. */
export type ContentSettings = {
  readonly images: boolean;
  /** Hosts, in lower case, from which images may come. */
  readonly imageHosts: readonly string[];
  readonly links: boolean;
  readonly markup: boolean;
  readonly hidden: boolean;
  readonly sources: boolean;
  /** Never shown. */
  readonly words: readonly string[];
  /** Characters of one message at most; infinite without a limit. */
  readonly maxCharacters: number;
};

/** The settings of `ag_ui_content`; `undefined` where a policy has no such block, or switches it off. */
export function compileContentSettings({ rules }: PolicyDocument): ContentSettings | undefined {
  const block: ContentBlock | undefined = rules.ag_ui_content;
  if (block === undefined || block.enabled === false) return undefined;
  return {
    images: block.images !== "allow",
    imageHosts: (block.image_hosts ?? []).map((host) => host.toLowerCase()),
    links: block.links !== "allow",
    markup: block.markup !== "allow",
    hidden: block.hidden !== "allow",
    sources: block.sources !== "allow",
    words: block.words ?? [],
    maxCharacters: block.max_characters ?? Number.POSITIVE_INFINITY,
  };
}
