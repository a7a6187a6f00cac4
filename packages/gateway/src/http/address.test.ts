import { expect, test } from "vitest";
import { clientAddress, createNetworks, isNetwork, isWithin, networkOf } from "./address.js";

test("the nearest address that is not a trusted proxy is the client's", () => {
  const trusted = createNetworks(["10.0.0.0/8", "::1"]);
  expect(clientAddress("192.0.2.1", "203.0.113.7", trusted)).toBe("192.0.2.1");
  expect(clientAddress("10.0.0.1", "203.0.113.7", trusted)).toBe("203.0.113.7");
  expect(clientAddress("10.0.0.1", "1.1.1.1, 203.0.113.7, 10.9.9.9", trusted)).toBe("203.0.113.7");
  expect(clientAddress("::ffff:10.0.0.1", "203.0.113.7", trusted)).toBe("203.0.113.7");
  expect(clientAddress("10.0.0.1", "203.0.113.7:51234", trusted)).toBe("203.0.113.7");
  expect(clientAddress("10.0.0.1", "1.1.1.1, [2001:db8::7]:51234", trusted)).toBe("2001:db8::7");
  expect(clientAddress("10.0.0.1", "203.0.113.7, [::1], 10.0.0.2:80", trusted)).toBe("203.0.113.7");
  expect(clientAddress("10.0.0.1", undefined, trusted)).toBeUndefined();
  expect(clientAddress("10.0.0.1", "203.0.113.7, nonsense", trusted)).toBeUndefined();
});

test("a /64 of IPv6 counts as one address, in any notation", () => {
  expect(networkOf("2001:db8:0:1::5")).toBe(networkOf("2001:0DB8:0000:0001:aaaa:bbbb:cccc:dddd"));
  expect(networkOf("2001:db8::1")).not.toBe(networkOf("2001:db8:0:1::1"));
  expect(networkOf("fe80::1%eth0")).toBe(networkOf("fe80::2"));
  expect(networkOf("::ffff:192.0.2.1")).toBe("192.0.2.1");
});

test("isNetwork tells networks and addresses from other text", () => {
  for (const good of ["10.0.0.0/8", "192.0.2.1", "::1", "2001:db8::/32"])
    expect(isNetwork(good)).toBe(true);
  for (const bad of ["10.0.0.0/33", "10.0.0.0/", "example.org", "10.0.0.0/8/8", "::/129", ""]) {
    expect(isNetwork(bad)).toBe(false);
    expect(() => createNetworks([bad])).toThrow(TypeError);
  }
  expect(isWithin(createNetworks(["10.0.0.0/8"]), "not an address")).toBe(false);
});
