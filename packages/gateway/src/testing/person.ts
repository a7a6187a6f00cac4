import type { JsonValue } from "@countersign/core";
import type { AgUiEvent, Message } from "@countersign/wire";
import { createReducer } from "@countersign/wire/reduce";
import type { Reducer, RunView } from "@countersign/wire/reduce";

/**
 * A person's screen: the view that their client computes, and the events that a client shows
 * directly.
 */
export class Person {
  readonly #reducer: Reducer;
  readonly #shownApart: JsonValue[] = [];
  #view: RunView;

  constructor(messages: readonly Message[], state: JsonValue) {
    this.#reducer = createReducer({ messages: structuredClone(messages), state });
    this.#view = this.#reducer.snapshot();
  }

  /** The conversation and the state. */
  get view(): RunView {
    return this.#view;
  }

  /** Shows the events that a client got. */
  show(events: readonly object[]): void {
    for (const event of events as readonly AgUiEvent[]) {
      if (event.type === "CUSTOM" && event.name.startsWith("countersign.notice")) continue;
      if (event.type === "CUSTOM" || event.type === "RAW" || event.type === "RUN_ERROR") {
        this.#shownApart.push(event as unknown as JsonValue);
      }
      this.#reducer.push(event);
    }
    this.#view = this.#reducer.snapshot();
  }

  /** Adds the person's message of a request. */
  says(message: Message): Person {
    const next = new Person([...this.#view.messages, message], this.#view.state);
    next.#shownApart.push(...this.#shownApart);
    return next;
  }

  message(id: string): Message | undefined {
    return this.#view.messages.find((message) => message.id === id);
  }

  /** True when the screen contains a text; a client may show several messages as one text. */
  reads(needle: string): boolean {
    const { messages, state, result } = this.#view;
    const asOne = messages
      .map(({ content }) => (typeof content === "string" ? content : ""))
      .join("");
    if (asOne.includes(needle)) return true;
    return holds(
      [messages, state, result ?? null, this.#shownApart] as unknown as JsonValue,
      needle,
    );
  }
}

function holds(value: JsonValue, needle: string): boolean {
  if (typeof value === "string") return value.includes(needle);
  if (value === null || typeof value !== "object") return false;
  return Object.values(value).some((member) => holds(member, needle));
}
