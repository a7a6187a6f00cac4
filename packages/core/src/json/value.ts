/** Any JSON value, after strict parsing: plain data, no `undefined`, no prototype surprises. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

/** A JSON object. */
export type JsonObject = { [key: string]: JsonValue };
