import { CountersignError } from "@countersign/core";
import { connect } from "../store/postgres/connect.js";
import "../base/errors.js";
import { MEMBERS } from "./fleet-store.js";

const TABLE = "SELECT to_regclass('countersign_gateways') IS NOT NULL AS is_there";
const ANSWER_MS = 5000;

/**
 * Names of the gateways that serve a log in PostgreSQL, or did five seconds ago. Creates no table:
 * without the table the list is empty.
 */
export async function gatewaysAlive(url: string, log: string): Promise<string[]> {
  const database = connect({ url, connections: 1, answerMs: ANSWER_MS, failure: unavailable });
  try {
    const [table] = await database.query<{ is_there: boolean }>(TABLE, []);
    if (table?.is_there !== true) return [];
    const rows = await database.query<{ gateway: string }>(MEMBERS, [log, ""]);
    return rows.map(({ gateway }) => gateway);
  } finally {
    await database.close();
  }
}

function unavailable(): CountersignError<"ERR_FLEET_UNAVAILABLE"> {
  const message = "the database did not say which gateways are alive";
  return new CountersignError("ERR_FLEET_UNAVAILABLE", message, {});
}
