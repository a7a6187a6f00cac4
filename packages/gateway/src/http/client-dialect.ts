import type { ClientDialect } from "../event/run.js";
import type { HttpRequest } from "./exchange.js";

const DIALECTS: ReadonlySet<string> = new Set(["1.0", "0.0.59", "0.0.55", "0.1.0", "envelope"]);

/** The dialect a client asks for, by header or by query; `undefined` lets the input tell. */
export function clientDialectOf(request: HttpRequest, url: URL): ClientDialect | undefined {
  const header = request.headers["countersign-dialect"];
  const asked =
    url.searchParams.get("dialect") ?? (typeof header === "string" ? header : undefined);
  return asked !== undefined && DIALECTS.has(asked) ? (asked as ClientDialect) : undefined;
}
