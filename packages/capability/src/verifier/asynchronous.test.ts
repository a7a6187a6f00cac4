import { verifyEd25519 } from "@countersign/core/verify";
import { expect, test } from "vitest";
import { narrowCapability } from "../issue/narrow.js";
import { CONTEXT, HOLDER_KEY, issue, testVerifier } from "../testing/fixtures.js";
import type { VerifySignature } from "../model/signatures.js";

/** Verifies asynchronously, as in browsers. */
const later: VerifySignature = async (...check) => verifyEd25519(...check);

test("with an asynchronous signature check the token is verified asynchronously", async () => {
  const verifier = testVerifier({ verify: later });
  const held = await issue({ holder: HOLDER_KEY.publicKey });
  const { token } = await narrowCapability(held, HOLDER_KEY);
  const pending = verifier.evaluate(token, CONTEXT);
  expect(pending).toBeInstanceOf(Promise);
  expect((await pending).status).toBe("valid");
  // The second time no signature is left to verify.
  expect(verifier.evaluate(token, CONTEXT)).toMatchObject({ status: "valid" });
});

test("a forged link is refused with a promise too", async () => {
  const verifier = testVerifier({ verify: later });
  const held = await issue({ holder: HOLDER_KEY.publicKey });
  const { token } = await narrowCapability(held, HOLDER_KEY);
  const forged = `${token.slice(0, -86)}${"A".repeat(86)}`;
  expect((await verifier.evaluate(forged, CONTEXT)).status).toBe("bad_signature");
});

test("a runtime that cannot verify refuses, at once or later", async () => {
  const token = await issue();
  const never = testVerifier({ verify: () => Promise.reject(new Error("no Ed25519")) });
  expect(await never.evaluate(token, CONTEXT)).toMatchObject({
    status: "rejected",
    reason: "capability verification failed: internal verification error",
  });
  const broken = testVerifier({
    verify: () => {
      throw new Error("no Ed25519");
    },
  });
  expect(await broken.evaluate(token, CONTEXT)).toMatchObject({ status: "rejected" });
});
