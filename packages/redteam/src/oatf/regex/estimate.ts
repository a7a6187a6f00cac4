/**
 * About how many instructions a pattern compiles to, counted without compiling it. Repeats are written out
 * by the compiler: 4,096 characters of `(a{0,1000})` become 740,000 instructions in five seconds.
 */
export function estimateInstructions(source: string): number {
  const outer: number[] = [];
  let sum = 0;
  let last = 0;
  const atom = (size: number): void => {
    sum += size;
    last = size;
  };
  for (let index = 0; index < source.length; index += 1) {
    const character = source.charAt(index);
    if (character === "\\") {
      index = endOfEscape(source, index);
      atom(1);
    } else if (character === "[") {
      index = endOfClass(source, index);
      atom(1);
    } else if (character === "(") {
      outer.push(sum);
      sum = 0;
    } else if (character === ")") {
      const inner = sum + 2;
      sum = outer.pop() ?? 0;
      atom(inner);
    } else if (character === "{") {
      const repeat = /^\{(\d+)(?:,(\d*))?\}/.exec(source.slice(index, index + 16));
      if (repeat === null) atom(1);
      else {
        const times = Math.max(Number(repeat[1]), Number(repeat[2] ?? 0), 1);
        sum += last * 2 * (times - 1);
        last *= 2 * times;
        index += repeat[0].length - 1;
      }
    } else atom(1);
  }
  for (const size of outer) sum += size;
  return sum;
}

/** The last character of `\d`, `\p{Greek}` or `\x{1F600}`. */
function endOfEscape(source: string, start: number): number {
  if (/^\\[pPx]\{/.test(source.slice(start, start + 3))) {
    const close = source.indexOf("}", start);
    if (close > 0) return close;
  }
  return start + 1;
}

/** The closing bracket of a class; a bracket right behind the opening one is a member. */
function endOfClass(source: string, start: number): number {
  let index = start + 1;
  if (source.charAt(index) === "^") index += 1;
  if (source.charAt(index) === "]") index += 1;
  for (; index < source.length; index += 1) {
    if (source.charAt(index) === "\\") index += 1;
    else if (source.startsWith("[:", index)) {
      const close = source.indexOf(":]", index);
      if (close > 0) index = close + 1;
    } else if (source.charAt(index) === "]") return index;
  }
  return source.length;
}
