import { assertWithin } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { APPENDED_MEMBERS, MESSAGE_IDS, RUN_IDS } from "../classify/envelope-payload.js";
import type { ContentFinding } from "./finding.js";
import { memberOf } from "./parts.js";
import type { ContentSettings } from "./settings.js";
import { TextScanner } from "./text-scanner.js";

/** Ways to join texts that one stream keeps apart. */
const MAX_JOINS = 100_000;
/** Messages that one stream keeps apart; the one that was written to the longest time ago makes room. */
const MAX_MESSAGES = 64;
/** Message ids that made room: a text of one that returns cannot be read on, and ends the run. */
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
 * of these. Every choice is a way; the empty choice joins all texts of the stream. Ways with the same texts share one
 * scanner until a text arrives that only some of them include.
 */
export class EnvelopeTexts {
  readonly #settings: ContentSettings;
  readonly #joins = new Map<string, Joined>();
  /** By message id, the ways that join texts of that message. */
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
    this.#joins.clear();
    this.#messages.clear();
    this.#past.clear();
    for (const envelope of this.#delivered ?? []) this.#push(envelope);
    this.#isAhead = false;
  }

  #push(envelope: JsonObject): ContentFinding | null {
    const payload = memberOf(envelope, "payload");
    const id = messageOf(payload);
    const places = placesOf(envelope, payload);
    let found: ContentFinding | undefined;
    for (const [member, text] of textsOf(payload)) {
      const choices = choicesOf([...places, `member ${member}`]);
      const ways = id === undefined ? choices : [...choices, ...this.#ofMessage(id, choices)];
      for (const joined of this.#joinedBy(ways)) {
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

  /** The ways that join texts of one message. Room is made by the message that was written to the longest time ago. */
  #ofMessage(id: string, choices: readonly string[]): string[] {
    if (this.#past.has(id)) assertWithin("maxReadMessages", MAX_MESSAGES + 1, MAX_MESSAGES);
    const ways = choices.map((choice) => id + choice);
    const known = this.#messages.get(id) ?? new Set();
    for (const way of ways) known.add(way);
    // Last in the order: used just now.
    this.#messages.delete(id);
    this.#messages.set(id, known);
    if (this.#messages.size > MAX_MESSAGES) this.#forgetOldest();
    return ways;
  }

  #forgetOldest(): void {
    const [oldest] = this.#messages;
    if (oldest === undefined) return;
    const [id, ways] = oldest;
    this.#messages.delete(id);
    this.#past.add(id);
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
      for (const way of own) this.#joins.set(way, next);
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

function messageOf(payload: JsonValue | undefined): string | undefined {
  const [id] = MESSAGE_IDS.flatMap((name) => memberOf(payload, name) ?? []);
  return id === undefined ? undefined : JSON.stringify(id);
}

/** The keys of a text apart from its message: the component, and the sender, run and thread. */
function placesOf(envelope: JsonObject, payload: JsonValue | undefined): string[] {
  const target = memberOf(envelope, "target");
  const ids = (names: readonly string[]): JsonValue[] =>
    names.map((name) => memberOf(payload, name) ?? null);
  const threadIds = RUN_IDS.filter((name) => name.startsWith("thread"));
  const runIds = RUN_IDS.filter((name) => !name.startsWith("thread"));
  const places: readonly [string, JsonValue[]][] = [
    ["type", [memberOf(target, "component_type") ?? null]],
    ["component", [memberOf(target, "component_id") ?? null]],
    ["agent", [memberOf(envelope, "agent_id") ?? null]],
    ["thread", [memberOf(envelope, "session_id") ?? null, ...ids(threadIds)]],
    ["run", ids(runIds)],
  ];
  return places
    .filter(([, values]) => values.some((value) => value !== null))
    .map(([name, values]) => `${name} ${JSON.stringify(values)}`);
}

/** Every choice of some of the keys. */
function choicesOf(keys: readonly string[]): string[] {
  let choices = [""];
  for (const key of keys) choices = choices.flatMap((choice) => [choice, `${choice}\n${key}`]);
  return choices;
}
