import { assertWithin, SmallMap } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { findErrorLink, measureErrorTexts } from "./error-links.js";
import type { ContentFinding } from "./finding.js";
import { InvisibleSentences } from "./hidden-text.js";
import { findInMedia } from "./media-parts.js";
import { findInEvent, findInValue, memberOf } from "./parts.js";
import { EnvelopeTexts, UNTRUSTED } from "./envelope-texts.js";
import type { ContentPart } from "../vocabulary/content-part.js";
import type { ContentSettings } from "./settings.js";
import { TextScanner } from "./text-scanner.js";

/** Messages one reader keeps apart; one that forgot would let a message go on as a new one. */
const MAX_READ_MESSAGES = 10_000;

/** Reads the text of a stream's events, each message as one. */
export type ContentReader = {
  /**
   * The first finding in an event; `null` for none. An event with more characters than `maxEventCharacters` is not read.
   *
   * @throws CountersignError when the stream has more messages than are kept apart
   */
  read(event: JsonObject): ContentFinding | null;
  /** Characters that it takes to read an event; of an envelope, each of its texts once. */
  measure(event: JsonObject): number;
  /** Says whether the event that was read last goes to the client. */
  settle(event: JsonObject, isDelivered: boolean): void;
};

/** Events whose `delta` is text for a person. */
const DELTAS: ReadonlyMap<JsonValue, ContentPart> = new Map([
  ["TEXT_MESSAGE_CONTENT", "text"],
  ["TEXT_MESSAGE_CHUNK", "text"],
  ["REASONING_MESSAGE_CONTENT", "reasoning"],
  ["REASONING_MESSAGE_CHUNK", "reasoning"],
]);
/** Those of them that have no other text but metadata. */
const CONTENTS: ReadonlyMap<JsonValue, ContentPart> = new Map(
  [...DELTAS].filter(([type]) => String(type).endsWith("_CONTENT")),
);

/** Is given each text of an event, the settings it is held to, and the scanner that reads it. */
type Scan = (
  text: string,
  settings: ContentSettings,
  scanner: () => TextScanner,
  isOneOfMany?: boolean,
) => ContentFinding | undefined;

/** Most texts have no such character: only the others are counted together. */
const MAY_BE_INVISIBLE = /[\u00ad\u0100-\u{10ffff}]/u;

/** Reads each text of an event by itself, and counts the invisible characters of those that a client shows together. */
function scanEvent(): Scan {
  let sentences: InvisibleSentences | undefined;
  return (text, { hidden }, scanner, isOneOfMany = false) => {
    const found = scanner().push(text);
    if (found !== undefined || !hidden || !isOneOfMany || !MAY_BE_INVISIBLE.test(text))
      return found;
    sentences ??= new InvisibleSentences();
    return sentences.isIn(text) ? { kind: "hidden" } : undefined;
  };
}

/** Members of an envelope beside its payload that a client may show: who speaks, and where. */
const LABELS = ["event_type", "event_id", "agent_id", "session_id", "target"] as const;
/** Parts whose texts an agent says itself, as long as a message at most: names, and what a run ends with. */
const SAID: ReadonlySet<ContentPart> = new Set(["text", "results"]);
const FAILURES: ReadonlySet<JsonValue> = new Set(["RUN_ERROR", "SUBAGENT_ERROR"]);

/**
 * A reader for one stream. `earlier` tells what a message said in the request: one that is opened again goes on where it
 * ended.
 */
export function createContentReader(
  settings: ContentSettings,
  earlier: (messageId: string) => string | undefined = () => undefined,
): ContentReader {
  return new StreamReader(settings, earlier);
}

/** A class: what each of a thousand idle streams holds is its fields alone. */
class StreamReader implements ContentReader {
  readonly #settings: ContentSettings;
  readonly #earlier: (messageId: string) => string | undefined;
  /** How long a message may be says nothing about a document in the state. */
  readonly #unbounded: ContentSettings;
  readonly #scanners = new SmallMap<string, TextScanner>();
  #envelopes: EnvelopeTexts | undefined;

  constructor(settings: ContentSettings, earlier: (messageId: string) => string | undefined) {
    this.#settings = settings;
    this.#unbounded = unboundedOf(settings);
    this.#earlier = earlier;
  }

  read(event: JsonObject): ContentFinding | null {
    const { delta } = event;
    if (typeof delta === "string") {
      const scanner = this.#scannerOfMore(event);
      if (scanner !== undefined) return this.#readMore(delta, scanner);
    }
    const { maxEventCharacters, linksInErrors } = this.#settings;
    const left = maxEventCharacters - this.measure(event);
    if (left < 0) return { kind: "max_event_characters" };
    return (
      this.#joined(event, left) ??
      this.#find(event, scanEvent()) ??
      (linksInErrors ? findErrorLink(event) : null)
    );
  }

  /** The scanner of an event that has nothing but more text of a message: no other text has to be looked for in it. */
  #scannerOfMore(event: JsonObject): TextScanner | undefined {
    const part = CONTENTS.get(event["type"] ?? null);
    const { messageId } = event;
    if (part === undefined || typeof messageId !== "string") return undefined;
    if (!this.#settings.parts.has(part) || event["metadata"] !== undefined) return undefined;
    return this.#scanners.get(messageId);
  }

  #readMore(delta: string, scanner: TextScanner): ContentFinding | null {
    const { maxCharacters, maxEventCharacters } = this.#settings;
    // A text that is too long by itself is found without being read.
    const isRead = delta.length <= maxCharacters;
    if (isRead && delta.length > maxEventCharacters) return { kind: "max_event_characters" };
    return scanner.push(delta) ?? null;
  }

  measure(event: JsonObject): number {
    let characters = 0;
    this.#find(event, (text, { maxCharacters }) => {
      // A text that is too long by itself is found without being read.
      if (text.length <= maxCharacters) characters += text.length;
      return undefined;
    });
    return characters + (this.#settings.linksInErrors ? measureErrorTexts(event) : 0);
  }

  /** The first thing that `scan` finds, with every text in the order in which it is read. */
  #find(event: JsonObject, scan: Scan): ContentFinding | null {
    const { type } = event;
    if (type === undefined) return this.#findInEnvelope(event, scan);
    const part = DELTAS.get(type);
    let found = part === undefined ? null : this.#findInDelta(event, part, scan);
    if (FAILURES.has(type)) found = this.#findInFailure(event, scan);
    if (type === "TOOL_CALL_RESULT") {
      found ??= findInMedia(event["content"], "/content", this.#settings) ?? null;
    }
    return found ?? this.#findInMembers(event, scan);
  }

  #findInMembers(event: JsonObject, scan: Scan): ContentFinding | null {
    const text = findInEvent(event, this.#settings.parts, (one, part) => {
      const settings = SAID.has(part) ? this.#settings : this.#unbounded;
      // A result is also read as a whole.
      return scan(one, settings, () => new TextScanner(settings), part !== "tool_results");
    });
    return text === undefined ? null : { ...text.found, part: text.pointer };
  }

  #findInFailure({ message }: JsonObject, scan: Scan): ContentFinding | null {
    const settings = this.#settings;
    if (typeof message !== "string" || !settings.parts.has("text")) return null;
    return scan(message, settings, () => new TextScanner(settings)) ?? null;
  }

  /** The findings for a client that appends the texts of an envelope to earlier ones. */
  #joined(envelope: JsonObject, maxCharacters: number): ContentFinding | null {
    if (!isTextStream(envelope) || !this.#isRead(envelope)) return null;
    this.#envelopes ??= new EnvelopeTexts(this.#settings);
    return this.#envelopes.read(envelope, maxCharacters);
  }

  /**
   * Reads every string of an envelope but its token. The agent chooses the type, so no type leaves a string unread. A
   * client may append texts to one message or show each by itself: they are read in both ways.
   */
  #findInEnvelope(envelope: JsonObject, scan: Scan): ContentFinding | null {
    if (!this.#isRead(envelope)) return null;
    const settings = this.#settings;
    const options = isTextStream(envelope) ? UNTRUSTED : {};
    const find = (one: string): ContentFinding | undefined =>
      scan(one, settings, () => new TextScanner(settings, options), true);
    let alone = findInValue(memberOf(envelope, "payload"), "/payload", find);
    for (const name of LABELS) alone ??= findInValue(memberOf(envelope, name), `/${name}`, find);
    return alone === undefined ? null : { ...alone.found, part: alone.pointer };
  }

  #isRead(envelope: JsonObject): boolean {
    return Object.hasOwn(envelope, "event_type") && this.#settings.parts.has("text");
  }

  #findInDelta(
    { delta, messageId }: JsonObject,
    part: ContentPart,
    scan: Scan,
  ): ContentFinding | null {
    const settings = this.#settings;
    if (typeof delta !== "string" || !settings.parts.has(part)) return null;
    const id = typeof messageId === "string" ? messageId : "";
    const scanner = (): TextScanner => this.#scannerOf(id);
    // Earlier text of the message is in the request: only the new text counts.
    const said = this.#scanners.has(id) ? undefined : this.#earlier(id);
    if (said !== undefined) scan(said, settings, scanner);
    return scan(delta, settings, scanner) ?? null;
  }

  /** A message of AG-UI of which something was not delivered is withheld; an envelope has no such rest. */
  settle(event: JsonObject, isDelivered: boolean): void {
    if (event["type"] === undefined) this.#envelopes?.settle(event, isDelivered);
  }

  #scannerOf(messageId: string): TextScanner {
    const known = this.#scanners.get(messageId);
    if (known !== undefined) return known;
    assertWithin("maxReadMessages", this.#scanners.size + 1, MAX_READ_MESSAGES);
    const scanner = new TextScanner(this.#settings);
    this.#scanners.set(messageId, scanner);
    return scanner;
  }
}

function isTextStream(envelope: JsonObject): boolean {
  return envelope["type"] === undefined && memberOf(envelope, "event_type") === "text_stream";
}

const unbounded = new WeakMap<ContentSettings, ContentSettings>();

function unboundedOf(settings: ContentSettings): ContentSettings {
  let known = unbounded.get(settings);
  if (known === undefined) {
    known = { ...settings, maxCharacters: Number.POSITIVE_INFINITY };
    unbounded.set(settings, known);
  }
  return known;
}
