import type { Random } from "./random.js";

const FILLERS = [": ping\n\n", "\n", "event: message\n", "id: 7\n", "retry: 100\n", ":\n"];

/** The texts as an SSE response: LF only, with the fillers that servers put between events. */
export function frameTexts(random: Random, texts: readonly string[]): string {
  let framed = random.chance(0.05) ? "\ufeff" : "";
  for (const [index, text] of texts.entries()) {
    if (random.chance(0.05)) framed += random.pick(FILLERS);
    const space = random.chance(0.9) ? " " : "";
    const lines = text.split("\n").map((line) => `data:${space}${line}\n`);
    const last = index === texts.length - 1;
    // A server that dies, or forgets the blank line, leaves the last event unterminated.
    framed += last && random.chance(0.05) ? lines.join("").trimEnd() : `${lines.join("")}\n`;
  }
  return framed;
}

/** Bytes in pieces of random sizes: often one event or a network read, sometimes single bytes. */
export function cutBytes(random: Random, bytes: Uint8Array): Uint8Array[] {
  const size = random.chance(0.02) ? 1 : random.pick([16, 150, 1500, 65_536]);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random.below(size);
    pieces.push(bytes.slice(at, end));
    at = end;
  }
  return pieces;
}
