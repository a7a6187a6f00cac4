import { assertWithin } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { APPENDED_MEMBERS, MESSAGE_IDS, RUN_IDS } from "../classify/envelope-payload.js";
import type { ContentFinding } from "./finding.js";
import { memberOf } from "./parts.js";
import type { ContentSettings } from "./settings.js";
import { TextScanner } from "./text-scanner.js";

/** Choices of component, sender and member that one stream keeps apart. */
const MAX_PLACES = 10_000;
/** Scanners of messages that one stream keeps; the one that was used the longest time ago makes room. */
const MAX_MESSAGES = 4096;
/** Message ids whose scanners made room: a text of one that returns cannot be read on, and ends the run. */
const MAX_PAST_IDS = 100_000;
/** How often the delivered texts are read once more, after one that was not delivered. */
const MAX_REREAD = 32;
/** Characters of delivered texts that are kept for that. */
const MAX_REREAD_LENGTH = 256 * 1024;
/** A fence in one text could make code of the next, or its end: nobody knows which texts a client joins. */
export const UNTRUSTED = { trustsCode: false } as const;

/**
 * Reads the texts of `text_stream` envelopes in every way in which a client can join them.
 *
 * A client appends a text to what it has for the component, the sender, the message and the member, or for some of
 * these: there is one scanner for each choice. The empty choice joins all texts of the stream.
 */
export class EnvelopeTexts {
  readonly #settings: ContentSettings;
  readonly #places = new Map<string, TextScanner>();
  readonly #messages = new Map<string, { readonly id: string; readonly scanner: TextScanner }>();
  readonly #past = new Set<string>();
  /** What the client has, as long as it is short enough to be read once more. */
  #delivered: JsonObject[] | undefined = [];
  #deliveredLength = 0;
  #reread = 0;
  /** A text was not delivered, and the scanners have it in them. */
  #isAhead = false;

  constructor(settings: ContentSettings) {
    this.#settings = settings;
  }

  /** @throws CountersignError when the stream has more messages or components than are kept apart, or is read too often */
  read(envelope: JsonObject): ContentFinding | null {
    if (this.#isAhead) this.#readAgain();
    return this.#push(envelope);
  }

  /** Says what became of the envelope that was read last: what the client did not get is not in what it joins. */
  settle(envelope: JsonObject, isDelivered: boolean): void {
    this.#isAhead = !isDelivered;
    if (!isDelivered || this.#delivered === undefined) return;
    this.#deliveredLength += lengthOf(memberOf(envelope, "payload"));
    if (this.#deliveredLength > MAX_REREAD_LENGTH) this.#delivered = undefined;
    else this.#delivered.push(envelope);
  }

  #readAgain(): void {
    this.#reread += 1;
    assertWithin("maxReadMessages", this.#reread, MAX_REREAD);
    // Too long to be read once more: what the client joins is not known any more.
    if (this.#delivered === undefined) assertWithin("maxReadMessages", MAX_REREAD + 1, MAX_REREAD);
    this.#places.clear();
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
      for (const choice of choicesOf([...places, `member ${member}`])) {
        const joined = this.#ofPlace(choice).push(text);
        const ofMessage = id === undefined ? undefined : this.#ofMessage(choice, id).push(text);
        found ??= joined ?? ofMessage;
      }
    }
    return found ?? null;
  }

  #ofPlace(choice: string): TextScanner {
    let scanner = this.#places.get(choice);
    if (scanner !== undefined) return scanner;
    assertWithin("maxReadMessages", this.#places.size + 1, MAX_PLACES);
    scanner = new TextScanner(this.#settings, UNTRUSTED);
    this.#places.set(choice, scanner);
    return scanner;
  }

  #ofMessage(choice: string, id: string): TextScanner {
    const key = `${id}${choice}`;
    const known = this.#messages.get(key);
    if (known === undefined && this.#past.has(id)) {
      assertWithin("maxReadMessages", MAX_MESSAGES + 1, MAX_MESSAGES);
    }
    const { scanner } = known ?? { scanner: new TextScanner(this.#settings, UNTRUSTED) };
    // Last in the order: used just now.
    this.#messages.delete(key);
    this.#messages.set(key, { id, scanner });
    if (this.#messages.size > MAX_MESSAGES) this.#makeRoom();
    return scanner;
  }

  #makeRoom(): void {
    const [oldest] = this.#messages;
    if (oldest === undefined) return;
    const [key, { id }] = oldest;
    this.#messages.delete(key);
    this.#past.add(id);
    assertWithin("maxReadMessages", this.#past.size, MAX_PAST_IDS);
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

function lengthOf(payload: JsonValue | undefined): number {
  return textsOf(payload).reduce((length, [, text]) => length + text.length, 0);
}

function messageOf(payload: JsonValue | undefined): string | undefined {
  const [id] = MESSAGE_IDS.flatMap((name) => memberOf(payload, name) ?? []);
  return id === undefined ? undefined : JSON.stringify(id);
}

/** Where a text belongs, beside its message: the component, and who sends it in which run and thread. */
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
