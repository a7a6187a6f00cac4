import { SmallMap } from "@countersign/core";
import type { Conversation } from "./conversation.js";
import type { LedgerRow } from "./ledger.js";
import { orderRow } from "./thread-state.js";
import type { ThreadState } from "./thread-state.js";

/** What the order of a run's messages depends on. */
export type RunOrderFacts = {
  readonly conversation: Conversation;
  readonly state: ThreadState;
  /** Ids that the client sent with its request. */
  readonly sent: readonly string[];
  readonly runId: string;
  /** See {@link RunTrace}. */
  readonly isOld: boolean;
};

/** Where each message stands in the client's hands, and which of them it may be without. */
export class RunOrder {
  readonly #facts: RunOrderFacts;
  /** What the client had when it asked, and what it is known to have had before. */
  readonly #sent: SmallMap<string, true>;
  readonly #known: SmallMap<string, true>;
  /** Whether a message list said what there is. */
  isRestated = false;

  constructor(facts: RunOrderFacts) {
    this.#facts = facts;
    this.#sent = tableOf(facts.sent);
    this.#known = tableOf(facts.state.order);
  }

  /** Whether the client sent it with its request. */
  wasSent(id: string): boolean {
    return this.#sent.has(id);
  }

  /** Ids that the client sent with its request. */
  sent(): Iterable<string> {
    return this.#sent.keys();
  }

  /** Whether it had its place before this run. */
  wasKnown(id: string): boolean {
    return this.#known.has(id);
  }

  /** Whether it came with this run. */
  isFresh(id: string): boolean {
    return !this.#sent.has(id) && !this.#known.has(id);
  }

  /** Who is where; after a message list, older clients disagree about the places of thoughts. */
  ids(): string[] {
    const { conversation, isOld } = this.#facts;
    const ids = conversation.ids();
    if (!isOld || !this.isRestated) return ids;
    return ids.filter((id) => conversation.roleOf(id) !== "reasoning");
  }

  /** The part of the history that the client did not send this time, then what it holds now. */
  idsBehindHistory(): string[] {
    const { order } = this.#facts.state;
    const held = this.ids();
    const mine = new Set(held);
    const first = order.findIndex((id) => mine.has(id));
    const unsent = first === -1 ? order : order.slice(0, first);
    return [...unsent, ...held];
  }

  /** Where everything stands while the run goes on; what it delivered so far may not have arrived. */
  rowMeanwhile(ids: readonly string[]): LedgerRow {
    const isLoose = (id: string): boolean => this.#isLoose(id) || this.isFresh(id);
    return orderRow(ids, this.#firstOf(ids), isLoose, this.#facts.runId);
  }

  /** Where everything stands when the run is over. */
  rowAtEnd(ids: readonly string[]): LedgerRow {
    return orderRow(ids, this.#firstOf(ids), (id) => this.#isLoose(id));
  }

  /** Where the messages of this run begin. */
  #firstOf(ids: readonly string[]): number {
    const first = ids.findIndex((id) => this.isFresh(id));
    return first === -1 ? ids.length : first;
  }

  /** Whether the client may be without it: what it has sent once it has, but for an older client's thoughts. */
  #isLoose(id: string): boolean {
    const { conversation, state, isOld } = this.#facts;
    if (isOld && conversation.roleOf(id) === "reasoning") return true;
    return state.loose.has(id) && !this.#sent.has(id);
  }
}

function tableOf(ids: readonly string[]): SmallMap<string, true> {
  const table = new SmallMap<string, true>();
  for (const id of ids) table.set(id, true);
  return table;
}
