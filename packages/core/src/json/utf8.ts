const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The bytes as text, or `undefined` when they are not UTF-8. A byte order mark stays in the text. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The number of UTF-8 bytes of a text's first `end` code units; a lone surrogate counts three. */
export function utf8Length(text: string, end: number = text.length): number {
  let bytes = end;
  for (let index = 0; index < end; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else {
      bytes += 2;
      // A pair takes four bytes, and its second unit is already counted once in `end`.
      if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(index + 1))) index++;
    }
  }
  return bytes;
}

/** The offset of the first byte that cannot be part of UTF-8, or -1 (Unicode table 3-7). */
export function invalidUtf8Offset(bytes: Uint8Array): number {
  let index = 0;
  while (index < bytes.length) {
    const lead = bytes[index] ?? 0;
    const more = continuationCount(lead);
    if (more < 0) return index;
    for (let step = 1; step <= more; step++) {
      const next = bytes[index + step] ?? 0;
      if (next < lowest(lead, step) || next > highest(lead, step)) return index;
    }
    index += more + 1;
  }
  return -1;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

function continuationCount(lead: number): number {
  if (lead < 0x80) return 0;
  if (lead < 0xc2) return -1;
  if (lead < 0xe0) return 1;
  if (lead < 0xf0) return 2;
  return lead < 0xf5 ? 3 : -1;
}

function lowest(lead: number, step: number): number {
  if (step > 1) return 0x80;
  if (lead === 0xe0) return 0xa0;
  return lead === 0xf0 ? 0x90 : 0x80;
}

function highest(lead: number, step: number): number {
  if (step > 1) return 0xbf;
  if (lead === 0xed) return 0x9f;
  return lead === 0xf4 ? 0x8f : 0xbf;
}
