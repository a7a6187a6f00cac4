import { hash } from "node:crypto";
import { batchSignatures } from "./batch-signatures.js";
import type { GroupKey, SignedGroup, SignInto, SignRequest } from "./group.js";
import { PARTS, partSet } from "./group.js";
import { RecordWriter } from "./records.js";

const SIGNATURE_BYTES = 64;
const EACH_PREFIX = "ed25519:";
// Room to begin with: an entry that needs more is found room for at the cost of a copy.
const EXPECTED_BYTES = { each: 1_000, batch: 1_300 } as const;

function broken(): TypeError {
  return new TypeError("a group is not what its count says");
}

/** Signs texts; the message is written to memory that is used again. */
function createTextSigner(sign: SignInto): (text: string, plain: boolean) => string {
  const signature = Buffer.allocUnsafeSlow(SIGNATURE_BYTES);
  let message = Buffer.allocUnsafeSlow(4_096);
  return (text, plain) => {
    const room = plain ? text.length : text.length * 3;
    if (room > message.length) message = Buffer.allocUnsafeSlow(room * 2);
    const length = plain
      ? message.write(text, 0, room, "latin1")
      : message.write(text, 0, room, "utf8");
    sign(signature, message.subarray(0, length));
    return EACH_PREFIX + signature.toString("hex");
  };
}

/**
 * Signs a group and writes its entries, hashes included: the work of a signing thread, free of I/O.
 * Texts are put together as strings and written once; each string is garbage before the next
 * collection of young objects.
 */
export function signGroup(request: SignRequest, key: GroupKey): SignedGroup {
  const { count, mode, plain } = request;
  const pieces = request.rows.split("\n");
  const payloads = request.payloads === "" ? [] : request.payloads.split("\n");
  const keyText = `","kernel_key":"${key.kernelKey}","payload_hash":"`;
  const parts: string[] = Array.from({ length: PARTS }, () => "");
  const entryHeads: string[] = [];
  const bodyHeads: string[] = [];
  const bodyTails: string[] = [];
  const entryTails: string[] = [];
  const entryEnds: string[] = [];
  let at = 0;
  let payload = 0;
  for (let index = 0; index < count; index += 1) {
    const mark = pieces[at++];
    if (mark === undefined) throw broken();
    const set = partSet(mark);
    for (let place = 0; place < PARTS; place += 1) {
      if ((set & (1 << place)) !== 0) parts[place] = pieces[at++] as string;
    }
    const id = pieces[at++];
    let payloadHash = pieces[at++];
    if (payloadHash === "") payloadHash = hash("sha256", payloads[payload++] ?? "", "hex");
    if (id === undefined || payloadHash === undefined) throw broken();
    entryHeads.push(parts[0] as string);
    bodyHeads.push(
      `${parts[1]},"event_id":"${id}","event_type":${parts[2]},"id":"agui-${id}${keyText}${payloadHash}"${parts[3]}`,
    );
    bodyTails.push(parts[4] as string);
    entryTails.push(parts[5] as string);
    entryEnds.push(parts[6] as string);
  }
  if (at !== pieces.length) throw broken();

  const body = (index: number): string => `${bodyHeads[index]}${bodyTails[index]}`;
  const batched =
    mode === "batch" ? batchSignatures(count, request.singles, body, key.sign) : undefined;
  const signText = createTextSigner(key.sign);
  const writer = new RecordWriter(request.first, count, count * EXPECTED_BYTES[mode]);
  for (let index = 0; index < count; index += 1) {
    const signature = batched?.[index] ?? signText(body(index), plain);
    writer.add(
      `${entryHeads[index]}${bodyHeads[index]},"signature":"${signature}"${bodyTails[index]}${entryTails[index]}`,
      entryEnds[index] as string,
      plain,
    );
  }
  return writer.take();
}
