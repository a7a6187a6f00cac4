import { encodeHex } from "@countersign/core";
import type { Checkpoint } from "../checkpoint/checkpoint.js";
import { TILE_WIDTH, tilePath } from "../tiles/path.js";

/** The README of an export for an auditor: its content and how to check it with other tools. */
export function exportReadme(checkpoint: Checkpoint, keyName: string, first = 0): string {
  const { origin, size, root } = checkpoint;
  const last = Math.max(0, size - 1);
  return `# Receipt log of ${origin}

${size} entries, root hash ${encodeHex(root)}.${removedNote(first)}

| file | content |
|---|---|
| \`checkpoint\` | size and root hash, signed by the log (C2SP tlog-checkpoint, a signed note) |
| \`log.vkey\` | the log's public key, named ${keyName} |
| \`tile/entries/…\` | the entries: bundles of 256, each entry behind a 16-bit big-endian length (C2SP tlog-tiles) |
| \`tile/0/…\`, \`tile/1/…\` | the hash tree over the entries (RFC 6962, SHA-256) |
| \`checkpoint.witnessed\` | where witnesses cosign: the newest checkpoint with their signatures, if it is older than \`checkpoint\` (C2SP tlog-cosignature) |
| \`checkpoint.timestamped\`, \`checkpoint.tsr\` | where checkpoints are dated: the dated checkpoint and the timestamp over its text (RFC 3161) |
| \`receipts.jsonl\` | the signed receipts of the entries, one per line, line n+1 for entry ${first === 0 ? "n" : `${first}+n`} |
| \`keys.jsonl\` | the keys that signed receipts; each line is signed by the key of the line before |
| \`proofs/<n>.tlog-proof\` | when asked for: the proof that entry n is in the log (C2SP tlog-proof) |

No payload is in here: a receipt holds the SHA-256 of the canonical JSON (RFC 8785) of the payload.

## Before anything else: whose keys are these?

\`log.vkey\` and \`keys.jsonl\` came with the log, so they show that the log agrees with itself and
nothing more. Get the log's vkey and the first receipt key from the operator over another channel, and
compare them with \`log.vkey\` and with the first line of \`keys.jsonl\`.

## With Countersign

    countersign receipts verify . --log-key "<vkey you were given>" --key "<receipt key you were given>"

Exit code 0 is valid, 1 is not valid (the output names the first broken entry), 2 could not be checked.

The log alone cannot show that it was not rolled back, or that others see the same log. A witness can. Get its vkey
from the witness, not from the operator of the log, and demand its cosignature; \`--witness-url\` also compares the
export with the newest checkpoint that the witness has. A timestamp shows that the entries existed at a time:

    countersign receipts verify . --log-key "<vkey>" --witness "<vkey of a witness>" --witness-threshold 1 \\
      --witness-url https://witness.example/ --tsa-ca tsa-root.pem

## With third-party tools

**The whole tree** (Tessera, in Go): derives the root again from every entry and tile.

    go run github.com/transparency-dev/tessera/cmd/fsck@latest \\
      --storage_url=file://$PWD/ --public_key=log.vkey --ui=false

**Everything, with Go's own packages** (golang.org/x/mod/sumdb, the code behind sum.golang.org):
\`packages/receipts/third-party/main.go\` of Countersign's sources is a short program around them.

    GO111MODULE=off GOPATH=/usr/share/gocode go run main.go .   # Debian: golang-go, golang-golang-x-mod-dev

**The checkpoint signature** (Go, golang.org/x/mod/sumdb/note): \`note.NewVerifier\` with the content of
\`log.vkey\`, then \`note.Open\` with the content of \`checkpoint\`.

**The timestamp** (OpenSSL): it is over the text of the checkpoint, without the signatures.

    sed '/^$/,$d' checkpoint.timestamped > text
    openssl ts -verify -data text -in checkpoint.tsr -CAfile tsa-root.pem

**A cosignature** (any Ed25519 library): the signed bytes are \`cosignature/v1\`, line feed, \`time <seconds>\`, line
feed, then the text of the checkpoint. The base64 of its line is key id (4 bytes), time (8 bytes, big-endian), signature.

**One receipt's signature** (OpenSSL 3 and jq): the first receipt, if its signature starts with \`ed25519:\`.
The members of our receipts are ASCII names, so \`jq -cS\` writes them in canonical order.

    sed -n 1p receipts.jsonl > receipt.json
    jq -cjS 'del(.signature)' receipt.json > body.bin
    jq -r '.signature' receipt.json | sed 's/^ed25519://' | xxd -r -p > signature.bin
    (echo 302a300506032b6570032100 | xxd -r -p
     jq -r '.kernel_key' receipt.json | sed 's/^ed25519://' | xxd -r -p) > key.der
    openssl pkeyutl -verify -pubin -inkey key.der -keyform DER -rawin -in body.bin -sigfile signature.bin

**One payload** (jq): from your own copy of the event's payload, compare with \`payload_hash\`. This is
exact where numbers are integers and names are ASCII; otherwise use an RFC 8785 library.

    jq -cjS . payload.json | sha256sum

**Anything by hand**: the leaf hash is SHA-256(0x00 || entry), a node SHA-256(0x01 || left || right).
The leaf hash of entry ${last} is hash ${last % 256} of its tile:

    tail -c +$((${last % 256} * 32 + 1)) ${lastTile(size)} | head -c 32 | xxd -p -c 32
`;
}

function removedNote(first: number): string {
  if (first === 0) return "";
  return `

The operator keeps receipts for a limited time: entries 0 to ${first - 1} are no longer in the log. Their hashes are, so
copies of them that you have still verify. \`removed.json\` names the signed entry that announces the removal. Tools that
need every entry (fsck below) stop at the first one that is missing; \`countersign receipts verify\` does not.`;
}

function lastTile(size: number): string {
  const index = Math.max(0, Math.ceil(size / TILE_WIDTH) - 1);
  return tilePath({ level: 0, index, width: Math.max(1, size - index * TILE_WIDTH) });
}
