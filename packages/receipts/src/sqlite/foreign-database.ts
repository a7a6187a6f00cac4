import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@countersign/core";
import { canonicalJson, parseJson } from "@countersign/core";
import { planForeign } from "../import/plan.js";
import type { ForeignFilter, ForeignReceipt } from "../import/foreign.js";
import { foreignFromRow } from "../import/rows.js";
import { openDatabase } from "../store/sqlite-engine.js";
import type { Database } from "../store/sqlite-engine.js";
import { FOREIGN_SCHEMA } from "./schema.js";

/** Foreign receipts in a separate database: unlike the index it cannot be rebuilt. */
export class ForeignDatabase {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async open(directory: string): Promise<ForeignDatabase> {
    const database = await openDatabase(join(directory, "foreign.sqlite"));
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    database.exec(FOREIGN_SCHEMA);
    return new ForeignDatabase(database);
  }

  /** Opens the database of another process for reading; undefined when it does not exist. */
  static async openReadOnly(directory: string): Promise<ForeignDatabase | undefined> {
    const path = join(directory, "foreign.sqlite");
    if (!existsSync(path)) return undefined;
    return new ForeignDatabase(await openDatabase(path, { readOnly: true }));
  }

  /** Adds new receipts; returns their number. */
  add(receipts: readonly ForeignReceipt[]): number {
    const insert = this.#database.prepare(
      "INSERT INTO foreign_receipts VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    );
    let added = 0;
    this.#database.exec("BEGIN");
    try {
      for (const one of receipts) {
        const { changes } = insert.run(
          one.hash,
          one.protocol,
          one.id ?? null,
          one.session_id ?? null,
          one.agent_id ?? null,
          one.at ?? null,
          one.signer,
          canonicalJson(one.receipt),
        );
        added += Number(changes);
      }
      this.#database.exec("COMMIT");
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
    return added;
  }

  query(filter: ForeignFilter): ForeignReceipt[] {
    const { conditions, values, limit } = planForeign(filter);
    const where = conditions.map((column) => `${column} = ?`).join(" AND ");
    const rows = this.#database
      .prepare(
        `SELECT * FROM foreign_receipts WHERE ${where} ORDER BY at IS NULL, at, hash LIMIT ${limit}`,
      )
      .all(...values);
    return rows.map((row) => foreignFromRow(row, parseJson(String(row["body"])) as JsonObject));
  }

  close(): void {
    this.#database.close();
  }
}
