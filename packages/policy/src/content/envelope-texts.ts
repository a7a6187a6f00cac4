import { assertWithin } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { APPENDED_MEMBERS } from "../classify/envelope-payload.js";
import type { ContentFinding } from "./finding.js";
import { columnsOf, JoinKeys } from "./join-keys.js";
import type { TextKeys } from "./join-keys.js";
import { memberOf } from "./parts.js";
import type { ContentSettings } from "./settings.js";
import { TextScanner } from "./text-scanner.js";

/** Ways to join texts that one stream keeps apart. */
const MAX_JOINS = 100_000;
/** Keys by which clients can join the texts of one stream; each one doubles the ways. */
const MAX_KEYS = 10;
/** Messages that one stream keeps apart; the one that was written to the longest time ago makes room. */
const MAX_MESSAGES = 64;
/** Messages that made room: a text of one that returns cannot be read on, and ends the run. */
const MAX_PAST_IDS = 100_000;
/** How often the delivered texts are read once more, after one that was not delivered. */
const MAX_REREAD = 32;
/** Characters that this may take: delivered texts, once for each way in which clients see them differently. */
const MAX_REREAD_LENGTH = 256 * 1024;
/** Characters that are scanned once more in a stream, where two ways to join texts part. */
const MAX_PARTED = 1024 * 1024;
/**
 * A fence in one text could turn the next into code, or end it: it is unknown which texts a client
 * joins.
 */
export const UNTRUSTED = { trustsCode: false } as const;

/** The texts that several ways to join have in common so far: the same texts in the same order. */
type Joined = { scanner: TextScanner; readonly texts: string[]; length: number; ways: number };

/**
 * Reads the texts of `text_stream` envelopes in every way in which a client can join them.
 *
 * A client appends a text to the text that it has for the component, the sender, the message and the member, or for some
 * of these; a text without one of them is appended to the others without it. Every choice of keys is a way; the empty
 * choice joins all texts of the stream. Ways with the same texts share one scanner until a text arrives that only some of
 * them include.
 */
export class EnvelopeTexts {
  readonly #settings: ContentSettings;
  #keys = new JoinKeys();
  readonly #joins = new Map<string, Joined>();
  /** By key of a message, the ways that join texts of that message. */
  readonly #messages = new Map<string, Set<string>>();
  readonly #past = new Set<string>();
  /** The delivered texts, while they are short enough to be scanned once more. */
  #delivered: JsonObject[] | undefined = [];
  #deliveredLength = 0;
  /** Characters that were scanned of the envelope that was read last. */
  #lastLength = 0;
  #reread = 0;
  #parted = 0;
  /** Characters that were scanned since the last envelope came, and how many may be. */
  #scanned = 0;
  #maxScanned = Number.POSITIVE_INFINITY;
  /** A text was not delivered, and the scanners have it in them. */
  #isAhead = false;

  constructor(settings: ContentSettings) {
    this.#settings = settings;
  }

  /**
   * @param maxCharacters the limit of scanned characters for this envelope. Each different way of joining counts.
   * @throws CountersignError beyond this limit, beyond the limit of messages or components of a stream, or if the texts
   * were read too often.
   */
  read(envelope: JsonObject, maxCharacters: number): ContentFinding | null {
    this.#scanned = 0;
    this.#maxScanned = maxCharacters;
    if (this.#isAhead) this.#readAgain();
    const before = this.#scanned;
    const found = this.#push(envelope);
    this.#lastLength = this.#scanned - before;
    return found;
  }

  /** Says what became of the envelope that was read last: what the client did not get is not in what it joins. */
  settle(envelope: JsonObject, isDelivered: boolean): void {
    this.#isAhead = !isDelivered;
    if (!isDelivered || this.#delivered === undefined) return;
    this.#deliveredLength += this.#lastLength;
    if (this.#deliveredLength > MAX_REREAD_LENGTH) this.#delivered = undefined;
    else this.#delivered.push(envelope);
  }

  #readAgain(): void {
    this.#reread += 1;
    assertWithin("maxReadMessages", this.#reread, MAX_REREAD);
    // Too long to be read once more: what the client joins is not known any more.
    if (this.#delivered === undefined) assertWithin("maxReadMessages", MAX_REREAD + 1, MAX_REREAD);
    this.#keys = new JoinKeys();
    this.#joins.clear();
    this.#messages.clear();
    this.#past.clear();
    for (const envelope of this.#delivered ?? []) this.#push(envelope);
    this.#isAhead = false;
  }

  #push(envelope: JsonObject): ContentFinding | null {
    const payload = memberOf(envelope, "payload");
    let found: ContentFinding | undefined;
    for (const [member, text] of textsOf(payload)) {
      const textKeys = this.#keys.next(columnsOf(envelope, payload, member));
      for (const joined of this.#joinedBy(this.#waysOf(textKeys))) {
        joined.length += text.length;
        // Longer than what is read once more, it is not kept either: ways that part there end the run.
        if (joined.length <= MAX_PARTED) joined.texts.push(text);
        else joined.texts.length = 0;
        const hit = this.#scan(joined.scanner, text);
        found ??= hit;
      }
    }
    return found ?? null;
  }

  /** The ways that include a text: every choice of its keys. */
  #waysOf({ keys, messages, divided }: TextKeys): string[] {
    assertWithin("maxReadMessages", keys.length, MAX_KEYS);
    for (const { from, to } of divided) this.#divide(from, to);
    for (const message of messages) this.#touch(message, MAX_MESSAGES * messages.length);
    let ways = [""];
    for (const key of keys) ways = ways.flatMap((way) => [way, `${way}${key};`]);
    return ways;
  }

  /** Adds the ways by a new key, which separated the texts so far as another one did, or not at all. */
  #divide(from: string, to: string): void {
    assertWithin("maxReadMessages", 3 * this.#joins.size, MAX_JOINS);
    const [joins, messages, past] = [[...this.#joins], [...this.#messages.keys()], [...this.#past]];
    const isDivided = (key: string): boolean => key.startsWith(`${from}=`);
    const added = (key: string): string => `${to}${key.slice(from.length)}`;
    for (const key of messages.filter(isDivided)) this.#messages.set(added(key), new Set());
    for (const key of past.filter(isDivided)) this.#past.add(added(key));
    for (const [way, joined] of joins) {
      if (from === "") this.#add(`${way}${to}=0;`, joined);
      const key = way.split(";").find(isDivided);
      if (key === undefined) continue;
      this.#add(`${way}${added(key)};`, joined);
      this.#add(`${way.replace(`${key};`, "")}${added(key)};`, joined);
    }
  }

  #add(way: string, joined: Joined): void {
    joined.ways += 1;
    this.#set(way, joined);
  }

  #set(way: string, joined: Joined): void {
    this.#joins.set(way, joined);
    for (const key of way.split(";")) this.#messages.get(key)?.add(way);
  }

  /** Notes that a message was written to. Room is made by the one that was written to the longest time ago. */
  #touch(message: string, most: number): void {
    if (this.#past.has(message)) assertWithin("maxReadMessages", MAX_MESSAGES + 1, MAX_MESSAGES);
    const ways = this.#messages.get(message) ?? new Set();
    // Last in the order: used just now.
    this.#messages.delete(message);
    this.#messages.set(message, ways);
    if (this.#messages.size > most) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [oldest] = this.#messages;
    if (oldest === undefined) return;
    const [message, ways] = oldest;
    this.#messages.delete(message);
    this.#past.add(message);
    assertWithin("maxReadMessages", this.#past.size, MAX_PAST_IDS);
    for (const way of ways) {
      const joined = this.#joins.get(way);
      if (joined !== undefined) joined.ways -= 1;
      this.#joins.delete(way);
    }
  }

  /** The texts that these ways have joined so far, not shared with other ways. */
  #joinedBy(ways: readonly string[]): Set<Joined> {
    const counts = new Map<Joined | undefined, string[]>();
    for (const way of ways) {
      const joined = this.#joins.get(way);
      const others = counts.get(joined);
      if (others === undefined) counts.set(joined, [way]);
      else others.push(way);
    }
    const all = new Set<Joined>();
    for (const [joined, own] of counts) {
      const isWhole = joined !== undefined && joined.ways === own.length;
      const next = isWhole ? joined : this.#part(joined, own.length);
      all.add(next);
      if (isWhole) continue;
      for (const way of own) this.#set(way, next);
      assertWithin("maxReadMessages", this.#joins.size, MAX_JOINS);
    }
    return all;
  }

  /** The same texts, for ways that the next text separates from others; none for new ways. */
  #part(joined: Joined | undefined, ways: number): Joined {
    const scanner = new TextScanner(this.#settings, UNTRUSTED);
    if (joined === undefined) return { scanner, texts: [], length: 0, ways };
    joined.ways -= ways;
    this.#parted += joined.length;
    assertWithin("maxReadMessages", this.#parted, MAX_PARTED);
    for (const text of joined.texts) this.#scan(scanner, text);
    return { scanner, texts: [...joined.texts], length: joined.length, ways };
  }

  #scan(scanner: TextScanner, text: string): ContentFinding | undefined {
    this.#scanned += text.length;
    assertWithin("maxReadMessages", this.#scanned, this.#maxScanned);
    return scanner.push(text);
  }
}

/** The texts of a payload that a client appends to what it has, by member. */
function textsOf(payload: JsonValue | undefined): [member: string, text: string][] {
  if (typeof payload === "string") return [["", payload]];
  return APPENDED_MEMBERS.flatMap((name): [string, string][] => {
    const text = memberOf(payload, name);
    return typeof text === "string" ? [[name, text]] : [];
  });
}
