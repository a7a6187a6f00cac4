export { openSqliteStore } from "./open-sqlite-store.js";
export type { SqliteStore, SqliteStoreOptions } from "./open-sqlite-store.js";
export { openDatabase } from "./engine.js";
export type { Database, Statement } from "./engine.js";
