import type { Manifest } from "../cose/manifest.js";

/** The README of an export of statements: its content and how to check it with other tools. */
export function statementsReadme({ size, root }: Manifest, origin: string, count: number): string {
  return `# Transparent statements of ${origin}

${count} of ${size} entries; the root hash of the tree is ${root}.

| file | content |
|---|---|
| \`statements/<n>.scitt\` | entry n of the log as a transparent statement: COSE_Sign1 (RFC 9052, RFC 9943) with a COSE receipt (RFC 9942) |
| \`manifest.scitt\` | a signed statement that lists the entries, and the tree |
| \`keys.cbor\` | COSE_KeySet: first the key of the log, then the receipt keys from the oldest to the newest |
| \`keys.jsonl\` | the key history: each line is signed by the key of the line before |
| \`log.vkey\`, \`checkpoint\` | key and signed checkpoint of the log in the C2SP formats, with the signatures of witnesses |

No payload of a conversation is in here: an entry holds the SHA-256 of the canonical JSON of the payload.

The keys came with the statements, so they show that the files agree with each other and nothing more. Get the log's
vkey and the first receipt key from the operator over another channel.

## With Countersign

    countersign receipts verify . --log-key "<vkey you were given>" --key "<receipt key you were given>"

## With other tools

- Any COSE library verifies the signature of a statement: the payload is attached, the key is in \`keys.cbor\` under
  the key id of the protected header.
- \`packages/receipts/third-party/verify_statement.py\` of Countersign's sources is a verifier in Python's standard
  library alone: \`python3 verify_statement.py --keys keys.cbor statements/*.scitt\`.
- By hand: the leaf hash is SHA-256(0x00 || payload). The path of the inclusion proof leads from it to a root (RFC 9162
  section 2.1.3.2), which is the detached payload of the receipt.
`;
}
