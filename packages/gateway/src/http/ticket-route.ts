import type { AccessControl } from "./access-control.js";
import type { HttpResponse, HttpRequest } from "./exchange.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { Upstream } from "../agent/upstream.js";
import { bearerOf } from "./credentials.js";
import { refuse, strangerOf } from "./refuse.js";
import { sessionOf } from "./exchange.js";

/** `POST /ag-ui/tickets?session=&agent=`: a ticket for one `GET /ag-ui/stream`. */
export async function serveTicket(
  context: GatewayContext,
  accessControl: AccessControl,
  upstream: Upstream,
  request: HttpRequest,
  response: HttpResponse,
  url: URL,
): Promise<void> {
  try {
    const grant = await accessControl.access.authenticate(bearerOf(request));
    accessControl.tickets.assertRoom(grant.principal);
    const named = sessionOf(request, url);
    const session = named ?? context.mintId("session");
    if (named === undefined) accessControl.owners.rememberOwn(session, grant.principal);
    else await accessControl.owners.claim(named, grant.principal);
    const agent = upstream.target.name;
    const { ticket, expiresAt } = accessControl.tickets.issue(grant, { sessionId: session, agent });
    const query = new URLSearchParams({ session, agent, ticket });
    response.writeHead(201, { "content-type": "application/json", "cache-control": "no-store" });
    response.end(
      JSON.stringify({
        ticket,
        session,
        agent,
        expires_at: new Date(expiresAt).toISOString(),
        url: `/ag-ui/stream?${query.toString()}`,
      }),
    );
  } catch (error) {
    refuse(context, response, error, strangerOf(context, accessControl, request, url));
  }
}
