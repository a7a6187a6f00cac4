/** Tokens whose expiry is remembered. */
const MAX_REMEMBERED = 10_000;

/**
 * The expiry of the tokens that this gateway issued. It generates their ids, so an id belongs to one token.
 *
 * The id of a token from another issuer proves nothing: a longer-lived token may have the same id.
 */
export class IssuedTokens {
  readonly #ends = new Map<string, number>();

  /** Remembers a token; the oldest one is dropped when the limit is reached. */
  add(id: string, expiresAt: number): void {
    this.#ends.set(id, expiresAt);
    if (this.#ends.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#ends.keys();
    if (oldest !== undefined) this.#ends.delete(oldest);
  }

  /** The latest expiry of a token in seconds, if known. A narrowed token never lives longer than its parent. */
  endOf(id: string): number | undefined {
    const [root = id] = id.split("/");
    return this.#ends.get(root);
  }
}
