import type { ContentFinding } from "./finding.js";
import type { ContentSettings } from "./settings.js";
import { TextScanner } from "./text-scanner.js";

/** The first finding in texts that a client shows one by one, such as those of a component. */
export function findInTexts(
  texts: readonly string[],
  settings: ContentSettings,
): ContentFinding | undefined {
  let left = settings.maxEventCharacters;
  for (const text of texts) {
    left -= text.length;
    if (left < 0) return { kind: "max_event_characters" };
    const found = new TextScanner(settings).push(text);
    if (found !== undefined) return found;
  }
  return undefined;
}
