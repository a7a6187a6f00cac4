/** Tokens whose end is remembered. */
const MAX_REMEMBERED = 10_000;

/**
 * When the tokens expire that this gateway issued: their ids are its own, and nobody else gives them out.
 *
 * Of others' tokens an id says nothing: the same id may stand in one that lasts longer.
 */
export class IssuedTokens {
  readonly #ends = new Map<string, number>();

  /** Remembers one; the oldest is forgotten when there are too many. */
  add(id: string, expiresAt: number): void {
    this.#ends.set(id, expiresAt);
    if (this.#ends.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined) this.#ends.delete(oldest);
  }

  /** When a token expires at the latest, in seconds, where that is known; none that was narrowed lasts longer. */
  endOf(id: string): number | undefined {
    const [root = id] = id.split("/");
    return this.#ends.get(root);
  }
}
