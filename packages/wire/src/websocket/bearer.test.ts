import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BEARER_SUBPROTOCOL, buildBearerSubprotocols, parseBearerSubprotocol } from "./bearer.js";

const token = fc
  .string({ unit: fc.constantFrom(..."abcXYZ019._~+/-"), minLength: 1 })
  .map((text) => `${text}==`);

test("the token that is offered is the token that is read, however the header is split", () => {
  fc.assert(
    fc.property(token, (secret) => {
      const names = buildBearerSubprotocols(secret);
      const read = { token: secret, select: BEARER_SUBPROTOCOL };
      expect(parseBearerSubprotocol(names)).toEqual(read);
      expect(parseBearerSubprotocol(names.join(", "))).toEqual(read);
      expect(parseBearerSubprotocol(["ag-ui", names.toReversed().join(",")])).toEqual(read);
      expect(names[0]).toMatch(/^[A-Za-z0-9._-]+$/);
    }),
  );
});

test("a captured opening of the sub-protocol decodes to the opening of a JWT", () => {
  const offered = ["base64UrlBearerAuthorization.ZXlKcmFXUWk", BEARER_SUBPROTOCOL];
  expect(parseBearerSubprotocol(offered)?.token).toBe("eyJraWQi");
});

test("without a token protocol the result is undefined", () => {
  expect(parseBearerSubprotocol("")).toBeUndefined();
  expect(parseBearerSubprotocol(["graphql-ws", BEARER_SUBPROTOCOL])).toBeUndefined();
});

test.each([
  ["encoding", "base64UrlBearerAuthorization., base64UrlBearerAuthorization"],
  ["encoding", "base64UrlBearerAuthorization.YQ==, base64UrlBearerAuthorization"],
  ["encoding", "base64UrlBearerAuthorization.YR, base64UrlBearerAuthorization"],
  ["encoding", "base64UrlBearerAuthorization._w, base64UrlBearerAuthorization"],
  ["encoding", "base64UrlBearerAuthorization.YSBi, base64UrlBearerAuthorization"],
  ["marker-missing", "base64UrlBearerAuthorization.YQ"],
  [
    "repeated",
    "base64UrlBearerAuthorization.YQ, base64UrlBearerAuthorization.Yg, base64UrlBearerAuthorization",
  ],
])("%s: an unusable offer is a coded error that keeps the secret", (reason, offered) => {
  expect(() => parseBearerSubprotocol(offered)).toThrow(
    expect.objectContaining({
      code: "ERR_WEBSOCKET_BEARER",
      facts: { reason },
      message: `unusable bearer sub-protocol: ${reason}`,
    }),
  );
});

test("a token with a line ending or a space is the caller's mistake", () => {
  for (const bad of ["", "a b", "a\r\nX: y", "é"]) {
    expect(() => buildBearerSubprotocols(bad)).toThrow(TypeError);
  }
});
