import { expect, test } from "vitest";
import { parse } from "../parse/parse.js";
import { withExecution, withIndicators } from "../testing/sample.js";
import { MAX_EXPRESSION_COST, OVER_BUDGET } from "./expression-budget.js";
import { validate } from "./validate.js";

function messages(text: string): string[] {
  const parsed = parse(text);
  if (!parsed.ok) throw new SyntaxError(JSON.stringify(parsed.errors));
  return validate(parsed.document).errors.map(({ rule, message }) => `${rule} ${message}`);
}
const many = (count: number, make: (index: number) => string): string =>
  `[${Array.from({ length: count }, (_, index) => make(index)).join(", ")}]`;

test.each([
  [
    "V-013",
    "patterns",
    withIndicators(many(800, (index) => `{target: a, pattern: {regex: 'b{0,900}${index}'}}`)),
  ],
  [
    "V-014",
    "patterns in CEL",
    withIndicators(
      many(
        900,
        (index) => `{target: a, expression: {cel: 'message.a.matches("b{0,900}${index}")'}}`,
      ),
    ),
  ],
  [
    "V-014",
    "expressions",
    withIndicators(
      many(
        900,
        (index) => `{target: a, expression: {cel: 'true ${"? a : b".repeat(9)} + ${index}'}}`,
      ),
    ),
  ],
  [
    "V-015",
    "selectors",
    withExecution(
      `{mode: ag_ui_client, phases: [{state: {}, extractors: ${many(900, (index) => `{name: a, source: request, type: json_path, selector: '$${"[?@.a]".repeat(9)}[${index}]'}`)}}]}`,
    ),
  ],
])("a document full of %s %s is refused, and soon", (rule, _title, text) => {
  expect(messages(text)).toContain(`${rule} ${OVER_BUDGET}`);
});

test("expressions may cost as much as the limit, and no more", () => {
  const size = 4096;
  const fit = MAX_EXPRESSION_COST / size;
  const cel = (index: number): string => {
    const head = `size("${index}`;
    const tail = '") > 0';
    return `{target: a, surface: raw, expression: {cel: '${head}${"x".repeat(size - head.length - tail.length)}${tail}'}}`;
  };
  expect(messages(withIndicators(many(fit, cel)))).toEqual([]);
  expect(messages(withIndicators(many(fit + 1, cel)))).toEqual([`V-014 ${OVER_BUDGET}`]);
});
