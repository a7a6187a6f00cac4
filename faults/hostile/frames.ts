import { randomBytes } from "node:crypto";
import type { Random } from "../../fuzz/engine/random.js";

const MAX_SHORT = 125;

/** How a frame differs from what a browser would write. */
export type FrameOptions = {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly isMasked: boolean;
  readonly reserved: number;
  /** The length the frame claims; its own when left out. */
  readonly claims?: number;
};

/** One WebSocket frame (RFC 6455, section 5.2), right or wrong. */
export function frame(payload: Buffer, options: Partial<FrameOptions> = {}): Buffer {
  const { opcode = 1, isLast = true, isMasked = true, reserved = 0 } = options;
  const length = options.claims ?? payload.length;
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = isMasked ? 0x80 : 0;
  let head: Buffer;
  if (length <= MAX_SHORT) head = Buffer.of(first, mask | length);
  else if (length <= 0xffff) {
    head = Buffer.alloc(4);
    head.writeUInt16BE(length, 2);
    head.set([first, mask | 126]);
  } else {
    head = Buffer.alloc(10);
    head.writeBigUInt64BE(BigInt(length), 2);
    head.set([first, mask | 127]);
  }
  if (!isMasked) return Buffer.concat([head, payload]);
  const key = randomBytes(4);
  const masked = Buffer.from(payload);
  for (const [index, byte] of masked.entries()) masked[index] = byte ^ (key[index % 4] as number);
  return Buffer.concat([head, key, masked]);
}

/** A message as one or several frames, with the games that can be played with them. */
export function hostileFrames(payload: Buffer, random: Random): Buffer[] {
  const middle = random.below(payload.length + 1);
  const [start, rest] = [payload.subarray(0, middle), payload.subarray(middle)];
  switch (random.below(16)) {
    case 0:
      return [frame(start, { isLast: false }), frame(rest, { opcode: 0 })];
    case 1:
      return [
        frame(start, { isLast: false }),
        frame(Buffer.from("hi"), { opcode: 9 }),
        frame(rest, { opcode: 0 }),
      ];
    case 2:
      return [frame(start, { isLast: false }), frame(rest, { opcode: 1 })];
    case 3:
      return [frame(payload, { opcode: 0 })];
    case 4:
      return [frame(payload, { opcode: random.below(16) })];
    case 5:
      return [frame(payload, { isMasked: false })];
    case 6:
      return [frame(payload, { reserved: 1 + random.below(7) })];
    case 7:
      return [
        frame(payload, { claims: random.pick([payload.length + 5, 0xffff, 2 ** 31, 2 ** 53]) }),
      ];
    case 8:
      return [frame(payload, { opcode: 9 })];
    case 9:
      return [
        frame(Buffer.alloc(126), { opcode: 8 + random.below(3), isLast: random.chance(0.5) }),
      ];
    case 10:
      return [
        frame(Buffer.from([random.below(256), random.below(256), 0xff, 0xfe]), { opcode: 8 }),
      ];
    case 11:
      return [frame(Buffer.concat([start, Buffer.of(0xc0, 0xaf), rest]))];
    case 12:
      return [...payload.subarray(0, 60)].map((byte, index) =>
        frame(Buffer.of(byte), { opcode: index === 0 ? 1 : 0, isLast: false }),
      );
    default:
      return [frame(payload)];
  }
}

/** The handshake a browser would send, or nearly. */
export function handshake(path: string, random: Random): Buffer {
  const lines = [
    `GET ${path} HTTP/1.1`,
    "host: gateway",
    "upgrade: websocket",
    "connection: Upgrade",
    "sec-websocket-version: 13",
    `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
  ];
  if (random.chance(0.06)) lines.splice(random.below(lines.length), 1);
  if (random.chance(0.06)) {
    lines.push(
      random.pick([
        "sec-websocket-extensions: permessage-deflate",
        "sec-websocket-protocol: a, b, a",
        "sec-websocket-protocol: ,,,",
        "sec-websocket-version: 8",
        "sec-websocket-key: x",
        "origin: null",
        "content-length: 4",
        "transfer-encoding: chunked",
      ]),
    );
  }
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
}
