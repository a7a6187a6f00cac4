import { SmallMap } from "@countersign/core";
import type { Conversation } from "./conversation.js";
import type { StoredRow } from "../store/keyed-store.js";
import { orderRow } from "./thread-state.js";
import type { ThreadState } from "./thread-state.js";

/** Options of {@link RunOrder}. */
export type RunOrderFacts = {
  readonly conversation: Conversation;
  readonly state: ThreadState;
  /** Ids that the client sent with its request. */
  readonly sent: readonly string[];
  readonly runId: string;
  /** See {@link RunTrace}. */
  readonly isOld: boolean;
};

/** The order of the client's messages, and which of them it may lack. */
export class RunOrder {
  readonly #facts: RunOrderFacts;
  /** Ids that the client sent with its request. */
  readonly sent: SmallMap<string, true>;
  /** Ids that were in the order before this run. */
  readonly known: SmallMap<string, true>;
  /** True after a message list. */
  isRestated = false;

  constructor(facts: RunOrderFacts) {
    this.#facts = facts;
    this.sent = tableOf(facts.sent);
    this.known = tableOf(facts.state.order);
  }

  /** True when this run created it. */
  isFresh(id: string): boolean {
    return !this.sent.has(id) && !this.known.has(id);
  }

  /** Ids in order. After a message list, older clients disagree about the positions of reasoning. */
  ids(): string[] {
    return this.#placed(this.#facts.conversation.ids());
  }

  /** Without the sent messages that have no record: the ledger ignores them. */
  #placed(ids: readonly string[]): string[] {
    const { conversation, isOld, state } = this.#facts;
    const isLost = isOld && this.isRestated;
    return ids.filter((id) => {
      if (this.sent.has(id) && !state.messages.has(id)) return false;
      return !isLost || conversation.roleOf(id) !== "reasoning";
    });
  }

  /** The part of the history that the client did not send this time, then the messages it holds now. */
  idsBehindHistory(): string[] {
    const { order } = this.#facts.state;
    const held = this.ids();
    const mine = new Set(held);
    const first = order.findIndex((id) => mine.has(id));
    const unsent = first === -1 ? order : order.slice(0, first);
    return [...unsent, ...held];
  }

  /** The order row during the run; messages delivered so far may not have arrived. */
  rowMeanwhile(ids: readonly string[]): StoredRow {
    const isLoose = (id: string): boolean => this.#isLoose(id) || this.isFresh(id);
    return orderRow(this.#ordered(ids), this.#own(ids), isLoose, this.#facts.runId);
  }

  /** The order row at the end of the run. */
  rowAtEnd(ids: readonly string[]): StoredRow {
    return orderRow(this.#ordered(ids), this.#own(ids), (id) => this.#isLoose(id));
  }

  #ordered(ids: readonly string[]): { ids: string[]; latest: number } {
    const first = ids.findIndex((id) => this.isFresh(id));
    return { ids: [...ids], latest: first === -1 ? ids.length : first };
  }

  /** See {@link ThreadState.own}; `undefined` where that order is the end of `ids`. */
  #own(ids: readonly string[]): { ids: string[]; latest: number } | undefined {
    const ownIds = this.#facts.conversation.ownIds();
    if (ownIds === undefined) return undefined;
    const own = this.#placed(ownIds);
    const start = ids.length - own.length;
    if (own.every((id, index) => id === ids[start + index])) return undefined;
    // Only after the last message from before: a list may have put older ones after those of this run.
    return { ids: own, latest: own.findLastIndex((id) => !this.isFresh(id)) + 1 };
  }

  /** True when the client may lack it. A message that it sent it has, except the reasoning of an older client. */
  #isLoose(id: string): boolean {
    const { conversation, state, isOld } = this.#facts;
    if (isOld && conversation.roleOf(id) === "reasoning") return true;
    return state.loose.has(id) && !this.sent.has(id);
  }
}

function tableOf(ids: readonly string[]): SmallMap<string, true> {
  const table = new SmallMap<string, true>();
  for (const id of ids) table.set(id, true);
  return table;
}
