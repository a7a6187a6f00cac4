import { canonicalJson, encodeHex, parseJson } from "@countersign/core";
import {
  createTrustList,
  describeCapability,
  formatRevocation,
  formatScope,
  parseRevocations,
  parseScope,
  readPublicKey,
} from "@countersign/capability";
import { createChioAgents } from "../../packages/capability/src/chio/agents.js";
import { readLossless } from "../../packages/capability/src/chio/lossless.js";
import { readChio } from "../../packages/capability/src/chio/read-chio.js";
import { readChain } from "../../packages/capability/src/token/chain.js";
import { readToken } from "../../packages/capability/src/token/read-token.js";
import * as chio from "../../packages/capability/src/testing/chio.js";
import * as ours from "../../packages/capability/src/testing/fixtures.js";
import { attempt, hold, holdEqual, textOf } from "../engine/target.js";
import type { FuzzTarget } from "../engine/target.js";

const TOKEN = await ours.issue();
const CHIO_TOKEN = chio.token();
const TRUST = createTrustList([ours.ISSUER_KEY.publicKey, chio.ISSUER.publicKey]);
const AGENTS = createChioAgents();
const KEY = `ed25519:${encodeHex(ours.ISSUER_KEY.publicKey)}`;

/** What of a token text is signed: all but the signature's own spelling. */
const OUR_CLAIMS = canonicalJson(readChain(TOKEN)[0].claims as never);

export const CAPABILITY_TARGETS: readonly FuzzTarget[] = [
  {
    name: "capability-token",
    property: "the verifier never throws, and calls valid only the token that was issued",
    covers: [
      "packages/capability/src/token/read-token.ts#readToken",
      "packages/capability/src/token/chain.ts#readChain",
      "packages/capability/src/token/compact.ts#readCompact",
      "packages/capability/src/token/claims.ts#readClaims",
      "packages/capability/src/model/signatures.ts#verifySignatures",
      "packages/capability/src/reading/read.ts#readClosed",
      "packages/capability/src/reading/read.ts#readObject",
      "packages/capability/src/reading/read.ts#readName",
      "packages/capability/src/reading/read.ts#readPrincipal",
      "packages/capability/src/reading/read.ts#readInteger",
      "packages/capability/src/reading/read.ts#readList",
      "packages/core/src/ed25519/verify-node.ts#verifyEd25519",
    ],
    dictionary: ["~", ".", "eyJhbGciOiJub25lIn0", TOKEN, `${TOKEN}~`],
    seeds: [TOKEN, `${TOKEN}~${TOKEN}`, ours.signRaw('{"alg":"none"}', "{}")],
    run(input) {
      const text = textOf(input);
      attempt(() => readToken(text, TRUST));
      const chain = attempt(() => readChain(text));
      const facts = ours.evaluateNow(ours.testVerifier(), text);
      if (facts.status === "valid") {
        hold(chain.ok, "what is valid can be read");
        const [root] = chain.value;
        holdEqual(canonicalJson(root.claims as never), OUR_CLAIMS, "only what was signed is valid");
      }
      attempt(() => describeCapability(text));
    },
  },
  {
    name: "capability-chio",
    property: "a Chio token keeps 64-bit integers exactly, and is valid only with what was signed",
    covers: [
      "packages/capability/src/chio/read-chio.ts#readChio",
      "packages/capability/src/chio/read-model.ts#readChioToken",
      "packages/capability/src/chio/lossless.ts#readLossless",
    ],
    dictionary: [
      '"expires_at":18446744073709551615',
      '"delegation_chain":[]',
      '"constraints":[]',
      '"algorithm":"ed25519"',
      "9007199254740993",
    ],
    seeds: [
      JSON.stringify(CHIO_TOKEN),
      JSON.stringify(CHIO_TOKEN).replace("1744994200", "18446744073709551615"),
    ],
    run(input) {
      const text = textOf(input);
      const lossless = attempt(() => readLossless(text));
      const plain = attempt(() => parseJson(text, { maxBytes: 64 * 1024 }));
      if (plain.ok && lossless.ok) {
        holdEqual(
          lossless.value.canonical(lossless.value.json),
          canonicalJson(plain.value),
          "same",
        );
      }
      attempt(() => readChio(text, TRUST, AGENTS));
      const facts = chio.judge(text);
      if (facts.status !== "valid") return;
      hold(lossless.ok, "what is valid can be read");
      const said = JSON.parse(lossless.value.canonical(lossless.value.json)) as object;
      const { algorithm: _algorithm, ...signed } = said as { algorithm?: unknown };
      holdEqual(canonicalJson(signed as never), canonicalJson(CHIO_TOKEN), "only what was signed");
    },
  },
  {
    name: "capability-texts",
    property: "scopes, revocations and public keys survive a round trip",
    covers: [
      "packages/capability/src/scope/grammar.ts#parseScope",
      "packages/capability/src/revocation/revocation.ts#parseRevocations",
      "packages/capability/src/trust/public-key.ts#readPublicKey",
    ],
    dictionary: ["ui:", "submit:", "*", ":", '{"capability_id":"', '"revoked_at":1}\n', "ed25519:"],
    seeds: [
      "ui:submit:modal:confirm-refund",
      "ui:*:x:*",
      formatRevocation({ capability_id: "cap-1", revoked_at: 1 }),
      KEY,
    ],
    run(input) {
      const text = textOf(input);
      const scope = attempt(() => parseScope(text));
      if (scope.ok)
        holdEqual(parseScope(formatScope(scope.value)), scope.value, "a scope survives");
      const revocations = attempt(() => parseRevocations(text));
      if (revocations.ok) {
        const written = revocations.value.map((one) => formatRevocation(one)).join("");
        holdEqual(parseRevocations(written), revocations.value, "revocations survive");
      }
      const key = attempt(() => readPublicKey(text));
      if (key.ok) hold(key.value.length === 32, "a key has 32 bytes");
    },
  },
];
