import { assertWithin } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { ContentKind } from "./finding.js";
import type { ContentSettings } from "./settings.js";
import { TextScanner } from "./text-scanner.js";

/** Messages one reader keeps apart; one that forgot would let a message go on as a new one. */
const MAX_READ_MESSAGES = 10_000;

/** Reads the text of a stream's events, each message as one. */
export type ContentReader = {
  /**
   * What an event brings that the settings ask for; `null` for nothing.
   *
   * @throws CountersignError when the stream has more messages than are kept apart
   */
  read(event: JsonObject): ContentKind | null;
  /** Forgets what a message said: a list of messages has replaced it, and `earlier` is asked anew. */
  forget(messageId: string): void;
};

/** Events whose `delta` is text for a person. */
const DELTAS: ReadonlySet<JsonValue> = new Set([
  "TEXT_MESSAGE_CONTENT",
  "TEXT_MESSAGE_CHUNK",
  "REASONING_MESSAGE_CONTENT",
  "REASONING_MESSAGE_CHUNK",
]);
const FAILURES: ReadonlySet<JsonValue> = new Set(["RUN_ERROR", "SUBAGENT_ERROR"]);

/**
 * A reader for one stream. `earlier` tells what a message said before the stream spoke in it, in the
 * request or in a list of messages: a message that is opened again goes on where it ended.
 */
export function createContentReader(
  settings: ContentSettings,
  earlier: (messageId: string) => string | undefined = () => undefined,
): ContentReader {
  const scanners = new Map<string, TextScanner>();
  const scannerOf = (messageId: string): TextScanner => {
    let scanner = scanners.get(messageId);
    if (scanner === undefined) {
      assertWithin("maxReadMessages", scanners.size + 1, MAX_READ_MESSAGES);
      scanner = new TextScanner(settings);
      scanners.set(messageId, scanner);
      const said = earlier(messageId);
      if (said !== undefined) scanner.push(said);
    }
    return scanner;
  };
  return {
    read(event) {
      const { type } = event;
      if (type === undefined) return null;
      if (FAILURES.has(type)) {
        const { message } = event;
        return typeof message === "string"
          ? (new TextScanner(settings).push(message) ?? null)
          : null;
      }
      if (!DELTAS.has(type)) return null;
      const { delta, messageId } = event;
      if (typeof delta !== "string") return null;
      return scannerOf(typeof messageId === "string" ? messageId : "").push(delta) ?? null;
    },
    forget: (messageId) => void scanners.delete(messageId),
  };
}
