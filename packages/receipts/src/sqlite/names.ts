import type { Database, Statement } from "./engine.js";

// Enough for every low-cardinality column and the sessions and runs under way.
const CACHED = 50_000;

/** Texts that rows refer to by number. */
export class Names {
  readonly #cache = new Map<string, number>();
  readonly #find: Statement;
  readonly #add: Statement;
  readonly #text: Statement;

  constructor(database: Database) {
    this.#find = database.prepare("SELECT name_id FROM names WHERE text = ?");
    this.#add = database.prepare("INSERT INTO names (text) VALUES (?) RETURNING name_id");
    this.#text = database.prepare("SELECT text FROM names WHERE name_id = ?");
  }

  /** The number of a text; undefined when no entry ever had it. */
  find(text: string): number | undefined {
    const known = this.#cache.get(text);
    if (known !== undefined) return known;
    const row = this.#find.get(text);
    return row === undefined ? undefined : this.#remember(text, Number(row["name_id"]));
  }

  /** The number of a text, given one if it is new. */
  intern(text: string): number {
    return (
      this.#cache.get(text) ??
      this.find(text) ??
      this.#remember(text, Number(this.#add.get(text)?.["name_id"]))
    );
  }

  /** The text of a number. */
  text(number: number): string {
    return String(this.#text.get(number)?.["text"]);
  }

  /** After a rolled back transaction the numbers it gave out mean nothing. */
  forget(): void {
    this.#cache.clear();
  }

  #remember(text: string, number: number): number {
    if (this.#cache.size >= CACHED) this.#cache.clear();
    this.#cache.set(text, number);
    return number;
  }
}
