export { openPostgresStore } from "./open-postgres-store.js";
export type { PostgresStoreOptions } from "./open-postgres-store.js";
