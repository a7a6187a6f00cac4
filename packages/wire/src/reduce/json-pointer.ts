/** The tokens of an RFC 6901 pointer, or nothing if it is not one. */
export function parsePointer(pointer: string): string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/u.test(pointer)) return undefined;
  const tokens = pointer.slice(1).split("/");
  return pointer.includes("~")
    ? tokens.map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
    : tokens;
}

/** Whether a pointer reaches for a prototype: `__proto__` anywhere, or `constructor/prototype`. */
export function reachesPrototype(tokens: readonly string[]): boolean {
  return tokens.some(
    (token, index) =>
      token === "__proto__" || (token === "prototype" && tokens[index - 1] === "constructor"),
  );
}

/** An array index as RFC 6901 writes it: no sign, no leading zero; nothing otherwise. */
export function parseIndex(token: string): number | undefined {
  return /^(?:0|[1-9]\d{0,14})$/u.test(token) ? Number(token) : undefined;
}
