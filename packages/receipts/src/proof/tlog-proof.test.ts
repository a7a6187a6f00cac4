import { decodeHex, isCountersignError } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { expect, test } from "vitest";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { leafHash } from "../merkle/hash.js";
import { verifyInclusion } from "../merkle/verify-proof.js";
import { parseVkey } from "../note/vkey.js";
import { encodeProof, parseProof } from "./tlog-proof.js";

const PROOF = `c2sp.org/tlog-proof@v1
index 5
vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms=
yoVOoSjtBQtBs1/8G4e46yveRh6eO1WW7Oa51ZdaCuA=
037kGJdt2VdTwcc4Yrk5j6Kiz5tP8P3+izDNlSCWFLc=

gw.example.com/log1
8
XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=

— gw.example.com/log1 92g5+cJsAyjtGjRkXZCXuGzuWfuZ9PRpf2fq7QAFDmEZfHxvGxOoxZrheHjaKJghnfd7jqYRRnSUyDwKHWivpf8kfgk=
`;
const VKEY = "gw.example.com/log1+f76839f9+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";

test("the example proof leads from its entry to the signed root and is written back the same", async () => {
  const proof = parseProof(PROOF);
  const checkpoint = await openCheckpoint(proof.checkpoint, [parseVkey(VKEY)], verifyEd25519);
  const leaf = leafHash(decodeHex("40414243"));
  expect(verifyInclusion(leaf, proof.index, checkpoint.size, proof.hashes, checkpoint.root)).toBe(
    true,
  );
  expect(encodeProof(proof)).toBe(PROOF);
});

test("an extra line is kept and not required", () => {
  const extra = PROOF.replace("index 5", "extra AAEC\nindex 5");
  const proof = parseProof(extra);
  expect(proof.extra).toEqual(Uint8Array.of(0, 1, 2));
  expect(encodeProof(proof)).toBe(extra);
});

test("a file that is not a proof is refused with its line", () => {
  const cases: [string, number][] = [
    ["", 0],
    [PROOF.replace("@v1", "@v2"), 1],
    [PROOF.replace("index 5", "index 05"), 2],
    [PROOF.replace("index 5", "entry 5"), 2],
    [PROOF.replace("index 5", "extra !\nindex 5"), 2],
    [PROOF.replace("vBoG", "vB!G"), 3],
    [PROOF.replace("vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms=", "AAAA"), 3],
    [
      PROOF.replace(
        "index 5\n",
        `index 5\n${"vBoGQ7EuTS18d5GPROD095qDi2z57FtcKD4fTYhZnms=\n".repeat(63)}`,
      ),
      3,
    ],
  ];
  for (const [text, line] of cases) {
    let found: unknown;
    try {
      parseProof(text);
    } catch (error) {
      found = isCountersignError(error, "ERR_PROOF_MALFORMED") ? error.facts.line : error;
    }
    expect(found).toBe(line);
  }
});
