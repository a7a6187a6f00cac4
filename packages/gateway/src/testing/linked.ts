import type { FakeScript } from "@countersign/testkit";
import type { AddressInfo, Server } from "node:net";
import type { GatewayOptions } from "../serve/gateway.js";
import type { RelayAddress } from "../cluster/gateway-directory.js";
import { createStreamNames, tagOf } from "../cluster/stream-names.js";
import { startFixture } from "./fixture.js";
import type { Fixture } from "./fixture.js";

/** The key that all gateways of a log share. */
export const LINK_KEY = new Uint8Array(32).fill(1);
const NAME_KEY = new Uint8Array(32).fill(2);

/** Two gateways that relay streams to each other. */
export type Linked = {
  readonly first: Fixture;
  readonly second: Fixture;
  /** The addresses of gateways by tag; a test may change them. */
  readonly addresses: Map<string, RelayAddress>;
  /** Tags of the gateways that were looked up. */
  readonly sought: string[];
  /** The tag of `first`. */
  readonly firstTag: string;
};

/** Starts two gateways with the same script, each with its own agent. */
export async function startLinked(
  script: FakeScript,
  gateway: Partial<GatewayOptions> = {},
): Promise<Linked> {
  const addresses = new Map<string, RelayAddress>();
  const sought: string[] = [];
  const start = async (name: string): Promise<Fixture> => {
    const fixture = await startFixture(script, {
      gateway: {
        ...gateway,
        relay: {
          key: LINK_KEY,
          names: createStreamNames(NAME_KEY, name),
          find: async (tag) => {
            sought.push(tag);
            const address = tag === tagOf(name) ? undefined : addresses.get(tag);
            return address && { id: tag, address, isListed: true };
          },
        },
      },
    });
    const relayPlane = fixture.gateway.relayPlane as Server;
    await new Promise<void>((resolve) => relayPlane.listen(0, "127.0.0.1", resolve));
    const { port } = relayPlane.address() as AddressInfo;
    addresses.set(tagOf(name), { host: "127.0.0.1", port });
    return fixture;
  };
  const [first, second] = [await start("first"), await start("second")];
  return { first, second, addresses, sought, firstTag: tagOf("first") };
}
