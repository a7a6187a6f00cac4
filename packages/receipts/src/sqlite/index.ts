export { openSqliteStore } from "./open-sqlite-store.js";
export type { SqliteStore, SqliteStoreOptions } from "./open-sqlite-store.js";
export { openDatabase, openReadOnlyDatabase } from "../store/sqlite-engine.js";
export type { Database, Statement } from "../store/sqlite-engine.js";
