import type { FeedItem } from "../api/answers.js";
import { verdictOf } from "../api/verdict.js";
import { RateBins } from "./rate-bins.js";

/** How the line to the gateway is. */
export type LineState = "connecting" | "live" | "lost";

/** What the feed has brought, as a component sees it; a new object whenever something came. */
export type FeedView = {
  readonly line: LineState;
  /** Oldest first. */
  readonly items: readonly FeedItem[];
  /** Everything that came, also what is not kept any more. */
  readonly total: number;
  /** What the gateway left out because we did not keep up. */
  readonly lost: number;
};

/** How often a rule spoke against something. */
export type RuleCount = { readonly rule: string; readonly blocked: number; readonly noted: number };

/** Decisions that are kept to look back at. */
export const MAX_ITEMS = 5000;

/** Names of rules that are counted; an agent cannot make more up, but a policy may be long. */
const MAX_RULES = 500;

/** Components are told this often at most. */
const TELL_MS = 100;

/** Owns what the live feed has brought. */
export class FeedStore {
  readonly rates = new RateBins();
  #items: FeedItem[] = [];
  #seen = new Set<number>();
  #rules = new Map<string, { blocked: number; noted: number }>();
  #total = 0;
  #lost = 0;
  #line: LineState = "connecting";
  #view: FeedView = { line: "connecting", items: [], total: 0, lost: 0 };
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Takes decisions in the order in which they came. After a line was lost the gateway begins with its last ones again: those
   * that are known are left out.
   *
   * @param at the second that they are drawn at; their own time for those from before we looked
   */
  push(items: readonly FeedItem[], at?: number): void {
    for (const item of items) {
      if (this.#seen.has(item.seq)) continue;
      this.#seen.add(item.seq);
      this.#items.push(item);
      this.#total += 1;
      this.rates.add(verdictOf(item), at ?? item.received_at);
      this.#count(item);
    }
    if (this.#items.length > MAX_ITEMS * 1.1) {
      for (const old of this.#items.splice(0, this.#items.length - MAX_ITEMS)) {
        this.#seen.delete(old.seq);
      }
    }
    this.#changed();
  }

  /** The gateway left some out. */
  skip(count: number): void {
    this.#lost += count;
    this.#changed();
  }

  /** The line came or went. */
  turn(line: LineState): void {
    if (this.#line === line) return;
    this.#line = line;
    this.#changed();
  }

  /** The rules that spoke most often, the worst first. */
  topRules(most: number): RuleCount[] {
    return [...this.#rules]
      .map(([rule, counts]) => ({ rule, ...counts }))
      .sort((one, other) => other.blocked + other.noted - one.blocked - one.noted)
      .slice(0, most);
  }

  readonly view = (): FeedView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  #count(item: FeedItem): void {
    const verdict = verdictOf(item);
    if (verdict === "allowed") return;
    const rule = item.rule ?? "gateway/invalid";
    let counts = this.#rules.get(rule);
    if (counts === undefined) {
      if (this.#rules.size >= MAX_RULES) return;
      counts = { blocked: 0, noted: 0 };
      this.#rules.set(rule, counts);
    }
    counts[verdict] += 1;
  }

  #changed(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#view = {
        line: this.#line,
        items: this.#items.slice(-MAX_ITEMS),
        total: this.#total,
        lost: this.#lost,
      };
      for (const listener of this.#listeners) listener();
    }, TELL_MS);
  }
}
