import { serve as serveHono } from "@hono/node-server";
import { readFileSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import type { GatewayConfig } from "../config/config.js";
import { createControlApp } from "../control/app.js";
import { createGateway } from "../gateway.js";
import type { Gateway } from "../gateway.js";
import { openAdminToken } from "../keys/key-directory.js";
import { SYSTEM_CLOCK } from "../ports.js";
import type { Journal } from "../runs/surroundings.js";
import { openPolicy } from "./open-policy.js";
import type { OpenPolicy } from "./open-policy.js";
import { openReceipts } from "./open-receipts.js";
import type { OpenReceipts } from "./open-receipts.js";
import { openTokens } from "./open-tokens.js";
import type { OpenTokens } from "./open-tokens.js";

/** A gateway that listens. */
export type RunningGateway = {
  readonly gateway: Gateway;
  readonly receipts: OpenReceipts;
  readonly policy: OpenPolicy;
  readonly tokens: OpenTokens;
  readonly dataUrl: string;
  readonly controlUrl: string;
  /** The admin token, only at the first start of this key directory. */
  readonly freshAdminToken: string | undefined;
  close(): Promise<void>;
};

/** What a caller may add to the configuration. */
export type ServeOptions = { readonly journal?: Journal };

/** Opens everything the configuration names and binds both listeners. */
export async function startGateway(
  config: GatewayConfig,
  options: ServeOptions = {},
): Promise<RunningGateway> {
  const policy = openPolicy(config.policyFile);
  const admin = await openAdminToken(config.keyDirectory);
  const tokens = await openTokens(config, SYSTEM_CLOCK);
  const receipts = await openReceipts(config);
  const { tls, heartbeatMs } = config.listen;
  const gateway = createGateway({
    agents: config.agents,
    fallbackAgent: config.defaultAgent,
    policy: policy.holder,
    recorder: {
      appendAll: (drafts) => receipts.log.appendAll(drafts),
      // Signing a checkpoint writes to the store, so it tells whether the store is back.
      probe: async () => void (await receipts.log.checkpoint()),
    },
    origins: config.origins,
    ...(options.journal === undefined ? {} : { journal: options.journal }),
    tokens: tokens.verifier,
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    ...(tls === undefined
      ? {}
      : { tls: { cert: readFileSync(tls.cert, "utf8"), key: readFileSync(tls.key, "utf8") } }),
  });
  await listen(gateway.dataPlane, config.listen.port, config.listen.host);
  const app = createControlApp({ gateway, receipts, policy, tokens, admin });
  const control = await new Promise<Server>((resolve) => {
    const server = serveHono(
      { fetch: app.fetch, port: config.control.port, hostname: config.control.host },
      () => resolve(server as Server),
    );
  });
  return {
    gateway,
    receipts,
    policy,
    tokens,
    dataUrl: urlOf(gateway.dataPlane, config.listen.host, tls === undefined ? "http" : "https"),
    controlUrl: urlOf(control, config.control.host, "http"),
    freshAdminToken: admin.fresh,
    close: async () => {
      if ("closeAllConnections" in control)
        (control as unknown as { closeAllConnections(): void }).closeAllConnections();
      await new Promise<void>((resolve) => {
        control.close(() => resolve());
      });
      await gateway.close();
      await receipts.log.close();
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function urlOf(server: Server, host: string, scheme: string): string {
  const { port } = server.address() as AddressInfo;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
