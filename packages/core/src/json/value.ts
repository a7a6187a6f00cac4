/** Any JSON value after strict parsing: plain data, no `undefined`, no prototype tricks. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. */
export type JsonObject = { [key: string]: JsonValue };
