import type { ClientDialect } from "../event/run.js";
import type { HttpRequest } from "./exchange.js";

const DIALECTS: ReadonlySet<string> = new Set(["1.0", "0.0.59", "0.0.55", "0.1.0", "envelope"]);

/** The dialect that a client requests by header or query; `undefined` leaves detection to the input. */
export function clientDialectOf(request: HttpRequest, url: URL): ClientDialect | undefined {
  const header = request.headers["countersign-dialect"];
  const asked =
    url.searchParams.get("dialect") ?? (typeof header === "string" ? header : undefined);
  return asked !== undefined && DIALECTS.has(asked) ? (asked as ClientDialect) : undefined;
}
