import { Provider } from "oidc-provider";
import type { Configuration } from "oidc-provider";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A real OpenID provider on loopback. */
export type IdentityProvider = {
  readonly issuer: string;
  /** The user who logs in next, without a form, and the claims about them. */
  user: { readonly id: string; readonly claims: Readonly<Record<string, unknown>> };
  /** Requests to the token endpoint. */
  readonly tokenRequests: number;
  stop(): Promise<void>;
};

/** Starts a provider with one client, which gets the user's claims in its ID token or from the userinfo endpoint. */
export async function startIdentityProvider(options: {
  redirect: string;
  host?: string;
  claimsIn?: "id-token" | "userinfo";
}): Promise<IdentityProvider> {
  const { host = "127.0.0.1", claimsIn = "id-token" } = options;
  let handle: (request: IncomingMessage, response: ServerResponse) => unknown = () => undefined;
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`;
  let tokenRequests = 0;
  const state: IdentityProvider = {
    issuer,
    user: { id: "alice", claims: {} },
    get tokenRequests() {
      return tokenRequests;
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
  const configuration: Configuration = {
    clients: [
      {
        client_id: "gateway",
        client_secret: "the-secret-of-the-gateway",
        redirect_uris: [options.redirect],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    claims: {
      openid: ["sub", "groups", "realm_access"],
      email: ["email", "email_verified"],
      profile: ["preferred_username"],
    },
    conformIdTokenClaims: claimsIn === "userinfo",
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...state.user.claims }),
    }),
    loadExistingGrant: async (context) => {
      const { client, session } = context.oidc;
      const grant = new context.oidc.provider.Grant({
        clientId: client?.clientId as string,
        accountId: session?.accountId as string,
      });
      grant.addOIDCScope("openid profile email");
      await grant.save();
      return grant;
    },
    ttl: { Interaction: 60, Session: 60, Grant: 60, AccessToken: 60, IdToken: 60 },
    cookies: { keys: ["a-key-of-this-test"] },
  };
  const provider = new Provider(issuer, configuration);
  const serve = provider.callback();
  handle = async (request, response) => {
    if (request.url?.startsWith("/token") === true) tokenRequests += 1;
    if (request.url?.startsWith("/interaction/") !== true) return serve(request, response);
    return provider.interactionFinished(request, response, {
      login: { accountId: state.user.id },
    });
  };
  return state;
}
