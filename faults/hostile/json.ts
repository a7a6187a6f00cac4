import type { Random } from "../../fuzz/engine/random.js";

/** Texts that stand where a value should: another type, beyond a bound, or no JSON at all. */
const STRANGE: readonly string[] = [
  "null",
  "true",
  "false",
  "0",
  "-0",
  "-1",
  "1e400",
  "1e-400",
  "9007199254740993",
  "123456789012345678901234567890",
  "0.1e+999999",
  "01",
  "+1",
  "0x10",
  ".5",
  "1.",
  "NaN",
  "-Infinity",
  "undefined",
  '""',
  '" "',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\u2028\u2029"',
  '"\\u202e\\u0007"',
  '"tab\there"',
  '"line\nbreak"',
  '"\\x41"',
  '"unterminated',
  "'single'",
  "[]",
  "{}",
  "[[[[[[[[[[]]]]]]]]]]",
  "[,]",
  "[1,]",
  "{,}",
  '{"a":1,"a":2}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toJSON":1,"valueOf":2,"then":3}',
  "/* comment */ 1",
  "\u00a01",
  "\ufeff1",
];

const NAMES: readonly string[] = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "then",
  "",
  "\\u0000",
  "\\ud800",
  "type",
  "role",
  "id",
  "messageId",
  "run_id",
  "thread_id",
  "threadId",
  "messages",
  "toolCallId",
  "tool_calls",
  "rawEvent",
];

type Change = (text: string, random: Random) => string;

const VALUE_CHANGES: readonly Change[] = [
  (_text, random) => random.pick(STRANGE),
  (_text, random) => random.pick(STRANGE),
  (_text, random) => `"${"\\u0041".repeat(random.pick([1, 1025, 20_000]))}"`,
  (_text, random) => "[".repeat(random.pick([63, 64, 65, 5000])),
  (text, random) => {
    const depth = random.pick([30, 65, 2000]);
    return `${'{"a":'.repeat(depth)}${text}${"}".repeat(depth)}`;
  },
  (text) => `[${text}]`,
  (text) => `${text}${text}`,
  (text) => `${text},${text}`,
  (text) => JSON.stringify(text),
];

/**
 * Writes a value as JSON with a few things wrong in it: types swapped, names doubled, numbers and depths
 * beyond all bounds, prototype keys, halves of surrogate pairs.
 */
export function writeMutated(value: unknown, random: Random): string {
  const targets = new Set<number>();
  const total = countNodes(value);
  for (let count = random.pick([1, 1, 1, 2, 4]); count > 0; count -= 1)
    targets.add(random.below(total));
  let seen = -1;
  const write = (node: unknown): string => {
    seen += 1;
    const isTarget = targets.has(seen);
    const text = isObject(node)
      ? writeObject(node, isTarget)
      : Array.isArray(node)
        ? `[${node.map(write).join(",")}]`
        : JSON.stringify(node);
    return isTarget && (!isObject(node) || random.chance(0.4))
      ? random.pick(VALUE_CHANGES)(text, random)
      : text;
  };
  const writeObject = (node: Record<string, unknown>, isTarget: boolean): string => {
    const members = Object.entries(node).map(([name, member]) => [
      JSON.stringify(name),
      write(member),
    ]);
    if (isTarget) changeMembers(members as [string, string][], random);
    return `{${members.map(([name, member]) => `${name}:${member}`).join(",")}}`;
  };
  return write(value);
}

function changeMembers(members: [string, string][], random: Random): void {
  const at = random.below(members.length + 1);
  const [name, member] = members[at] ?? ['"x"', "1"];
  const strange = `"${random.pick(NAMES)}"`;
  switch (random.below(7)) {
    case 0:
      members.push([name, member]);
      break;
    case 1:
      members.push([name, random.pick(STRANGE)]);
      break;
    case 2:
      members.splice(at, 1);
      break;
    case 3:
      members.splice(at, 1, [strange, member]);
      break;
    case 4:
      members.push([strange, random.pick(STRANGE)]);
      break;
    case 5:
      // The same name in another spelling: escapes, case, underscores.
      members.push([
        random.pick([
          name.replace(/[a-z]/u, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`),
          name.toUpperCase(),
          name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`),
        ]),
        member,
      ]);
      break;
    default:
      members.reverse();
  }
}

function countNodes(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countNodes(item), 1);
  if (isObject(value)) return countNodes(Object.values(value));
  return 1;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
