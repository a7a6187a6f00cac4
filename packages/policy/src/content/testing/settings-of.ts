import type { ContentSettings } from "../settings.js";

/** Settings of `ag_ui_content` that look for everything, but for what a test says. */
export function settingsOf(changes: Partial<ContentSettings> = {}): ContentSettings {
  return {
    images: true,
    imageHosts: [],
    links: true,
    linksInErrors: false,
    markup: true,
    hidden: true,
    sources: true,
    resolvesSources: false,
    words: [],
    maxCharacters: 100_000,
    maxEventCharacters: 1_000_000,
    isByEvent: false,
    parts: new Set(["text", "reasoning"]),
    ...changes,
  };
}
