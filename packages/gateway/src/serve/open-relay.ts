import type { AddressInfo, Server } from "node:net";
import { deriveSealKey } from "../access/ticket-seal.js";
import type { GatewayConfig } from "../config/config.js";
import type { Fleet } from "../cluster/fleet.js";
import type { RelayOptions } from "../cluster/relays.js";
import { createAddressSeal, GatewayDirectory } from "../cluster/gateway-directory.js";
import { createStreamNames } from "../cluster/stream-names.js";
import type { Journal } from "../base/ports.js";
import { listen } from "../http/listener.js";

/** Relays resumed streams between the gateways of a log. */
export type OpenRelay = {
  readonly options: RelayOptions;
  /** Binds the relay listener; resolves with its address as published in the database. */
  listen(server: Server): Promise<string>;
};

/** `undefined` if the configuration has no address. */
export function openRelay(
  config: GatewayConfig["fleet"],
  of: {
    readonly fleet: Fleet;
    readonly gatewayName: string;
    readonly issuerPem: string;
    readonly journal: Journal;
  },
): OpenRelay | undefined {
  if (config === undefined) return undefined;
  const { fleet, gatewayName, issuerPem, journal } = of;
  const seal = createAddressSeal(deriveSealKey(issuerPem, "addresses"));
  const directory = new GatewayDirectory(() => fleet.members(), seal);
  return {
    options: {
      key: deriveSealKey(issuerPem, "relays"),
      names: createStreamNames(deriveSealKey(issuerPem, "streams"), gatewayName),
      find: (tag) => directory.find(tag),
    },
    listen: async (server) => {
      await listen(server, config.port, config.host);
      const { port } = server.address() as AddressInfo;
      journal.info({ address: config.address, port }, "listening for other gateways");
      return seal.seal(gatewayName, { host: config.address, port });
    },
  };
}
