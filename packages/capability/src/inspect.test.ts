import { expect, test } from "vitest";
import { describeCapability } from "./inspect.js";
import { narrowCapability } from "./issue/narrow.js";
import { HOLDER_KEY, issue, NOW } from "./testing/fixtures.js";

test("a description shows every link without verifying it", async () => {
  const held = await issue({ holder: HOLDER_KEY.publicKey });
  expect(describeCapability(held)).toMatchObject({ id: "cap-1", needsHolder: true });
  const { token } = await narrowCapability(held, HOLDER_KEY, { id: "a", expiresAt: NOW + 5 });
  expect(describeCapability(`${token.slice(0, -86)}${"A".repeat(86)}`)).toMatchObject({
    format: "countersign",
    id: "cap-1/a",
    subject: "agent-support",
    sessionId: "sess_01",
    expiresAt: NOW + 5,
    needsHolder: false,
    links: [{ jti: "cap-1" }, { jti: "cap-1/a" }],
  });
});

test("a Chio token is described by its grants", () => {
  const custom = (key: string, value: string): object => ({ type: "custom", value: [key, value] });
  const token = {
    id: "cap-x",
    issuer: "00",
    subject: "11",
    scope: {
      grants: [
        {
          server_id: "ag-ui",
          tool_name: "alert",
          operations: ["invoke"],
          constraints: [custom("session_id", "s"), custom("target_component_type", "toast")],
        },
      ],
    },
    issued_at: 1,
    expires_at: 2,
    signature: "",
  };
  expect(describeCapability(JSON.stringify(token))).toMatchObject({
    format: "chio",
    id: "cap-x",
    sessionId: "s",
    scopes: ["ui:alert:toast"],
  });
});

test.each(["", "nonsense", "{", '{"id":1}', "\ud800", null, "x".repeat(99_999)])(
  "an unreadable token is a coded error: %j",
  (token) => {
    expect(() => describeCapability(token)).toThrow("token is malformed");
  },
);
