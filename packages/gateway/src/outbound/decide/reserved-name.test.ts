import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isReservedName } from "./reserved-name.js";

const RESERVED: [string, string][] = [
  ["as the gateway writes it", "countersign.blocked"],
  ["with nothing behind it", "countersign."],
  ["other letter case", "Countersign.blocked"],
  ["all capitals", "COUNTERSIGN.BLOCKED"],
  ["a space in front", " countersign.blocked"],
  ["other white space around it", "\t\n\u00a0countersign.blocked\u2003"],
  ["a space inside", "counter sign.blocked"],
  ["full width", "\uff43ountersign\uff0eblocked"],
  ["mathematical letters", "\u{1d41c}ountersign.blocked"],
  ["a long s", "counter\u017fign.blocked"],
  ["a capital i with a dot", "COUNTERS\u0130GN.blocked"],
  ["an i without a dot", "counters\u0131gn.blocked"],
  ["a Cyrillic c and o", "\u0441\u043euntersign.blocked"],
  [
    "Cyrillic and Armenian wherever they fit",
    "\u0441\u043e\u057d\u0578t\u0435r\u0455\u0456gn.blocked",
  ],
  ["a mark on a letter", "counte\u0301rsign.blocked"],
  ["a zero-width space", "counter\u200bsign.blocked"],
  ["a byte order mark", "\ufeffcountersign.blocked"],
  ["a soft hyphen", "counter\u00adsign.blocked"],
  ["a direction mark", "\u202ecountersign.blocked"],
  ["a filler", "counter\u3164sign.blocked"],
  ["a control character", "\u0000countersign.blocked"],
  ["a leader dot", "countersign\u2024blocked"],
  ["an ideographic full stop", "countersign\u3002blocked"],
  ["a middle dot", "countersign\u00b7blocked"],
  ["a colon", "countersign:blocked"],
  ["a slash", "countersign/blocked"],
];

test.each(RESERVED)(
  "a name that could be mistaken for the gateway's is reserved: %s",
  (_, name) => {
    expect(isReservedName(name)).toBe(true);
  },
);

test.each([
  "",
  "countersign",
  "countersigned.order",
  "countersigning.order",
  "countersign-demo.order",
  "counter.sign",
  "acme.countersign.blocked",
  "countersin.blocked",
  "vendor.navigate",
  "\u0443\u0432\u0435\u0434\u043e\u043c\u043b\u0435\u043d\u0438\u044f.blocked",
  "\u901a\u77e5.blocked",
  "agent-os.tool.started",
])("a name of an application is not: %j", (name) => {
  expect(isReservedName(name)).toBe(false);
});

test("with any invisible characters inserted the name stays reserved", () => {
  const unseen = fc.constantFrom(
    " ",
    "\t",
    "\u200b",
    "\u200d",
    "\u2060",
    "\u00ad",
    "\ufe0f",
    "\u0300",
    "\u{e0061}",
    "\u061c",
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(12), unseen), { maxLength: 20 }),
      fc.boolean(),
      (strewn, loud) => {
        const letters = [...(loud ? "COUNTERSIGN." : "countersign.")];
        for (const [place, character] of strewn) letters[Math.min(place, 11)] += character;
        expect(isReservedName(`${letters.join("")}blocked`)).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

test("no other plain name is reserved", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z_-]{1,16}\.[a-z.]{0,16}$/), (name) => {
      expect(isReservedName(name)).toBe(name.startsWith("countersign."));
    }),
    { numRuns: 300 },
  );
});
