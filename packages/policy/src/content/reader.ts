import { assertWithin, SmallMap } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { findErrorLink } from "./error-links.js";
import type { ContentFinding } from "./finding.js";
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
   * What an event brings that the settings ask for; `null` for nothing.
   *
   * @throws CountersignError when the stream has more messages than are kept apart
   */
  read(event: JsonObject): ContentFinding | null;
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
    return this.#readTexts(event) ?? (this.#settings.linksInErrors ? findErrorLink(event) : null);
  }

  #readTexts(event: JsonObject): ContentFinding | null {
    const { type } = event;
    if (type === undefined) return this.#readEnvelope(event);
    const part = DELTAS.get(type);
    let found = part === undefined ? null : this.#readDelta(event, part);
    if (FAILURES.has(type)) found = this.#readFailure(event);
    if (type === "TOOL_CALL_RESULT") {
      found ??= findInMedia(event["content"], "/content", this.#settings) ?? null;
    }
    return found ?? this.#readMembers(event);
  }

  #readMembers(event: JsonObject): ContentFinding | null {
    const { parts } = this.#settings;
    const text = findInEvent(event, parts, (one, part) =>
      new TextScanner(SAID.has(part) ? this.#settings : this.#unbounded).push(one),
    );
    return text === undefined ? null : { ...text.found, part: text.pointer };
  }

  #readFailure({ message }: JsonObject): ContentFinding | null {
    const isRead = typeof message === "string" && this.#settings.parts.has("text");
    return isRead ? (new TextScanner(this.#settings).push(message) ?? null) : null;
  }

  /**
   * Reads every string of an envelope but its token. The agent chooses the type, so no type leaves a string unread. A
   * client may append texts to one message or show each by itself: they are read in both ways.
   */
  #readEnvelope(envelope: JsonObject): ContentFinding | null {
    if (!Object.hasOwn(envelope, "event_type") || !this.#settings.parts.has("text")) return null;
    const payload = memberOf(envelope, "payload");
    const isJoined = memberOf(envelope, "event_type") === "text_stream";
    if (isJoined) {
      this.#envelopes ??= new EnvelopeTexts(this.#settings);
      const found = this.#envelopes.read(envelope);
      if (found !== null) return found;
    }
    const scan = (one: string): ContentFinding | undefined =>
      new TextScanner(this.#settings, isJoined ? UNTRUSTED : {}).push(one);
    let alone = findInValue(payload, "/payload", scan);
    for (const name of LABELS) alone ??= findInValue(memberOf(envelope, name), `/${name}`, scan);
    return alone === undefined ? null : { ...alone.found, part: alone.pointer };
  }

  #readDelta({ delta, messageId }: JsonObject, part: ContentPart): ContentFinding | null {
    if (typeof delta !== "string" || !this.#settings.parts.has(part)) return null;
    return this.#scannerOf(typeof messageId === "string" ? messageId : "").push(delta) ?? null;
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
    const said = this.#earlier(messageId);
    if (said !== undefined) scanner.push(said);
    return scanner;
  }
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
