export { openConnections } from "./connections.js";
export type { ConnectionOptions } from "./connections.js";
export { openPostgresStore } from "./open-postgres-store.js";
export type { PostgresStoreOptions } from "./open-postgres-store.js";
export { migrate } from "./migrate.js";
export type { Migration, MigrateOptions } from "./migrate.js";
