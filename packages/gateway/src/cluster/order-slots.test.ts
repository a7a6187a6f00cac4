import * as fc from "fast-check";
import { expect, test } from "vitest";
import { OrderSlots } from "./order-slots.js";

/** Takes every slot that the person can get. */
function fill(slots: OrderSlots, person: string | undefined): (() => void)[] {
  const taken: (() => void)[] = [];
  for (let free = slots.take(person); free !== undefined; free = slots.take(person))
    taken.push(free);
  return taken;
}

test("one person who takes all they can leaves most slots to others, who get as many", () => {
  const slots = new OrderSlots();
  expect(fill(slots, "greedy")).toHaveLength(7);
  expect(fill(slots, "another").length).toBeGreaterThanOrEqual(5);
  expect(fill(slots, "a third").length).toBeGreaterThanOrEqual(3);
});

test("sixteen people who take all they can leave one slot for the next, and operators keep theirs", () => {
  const slots = new OrderSlots();
  for (let round = 0; round < 16; round += 1) {
    for (let person = 0; person < 16; person += 1) slots.take(`p${person}`);
  }
  expect(slots.take("late")).toBeDefined();
  for (let person = 0; person < 100; person += 1) fill(slots, `q${person}`);
  expect(slots.take("nobody")).toBeUndefined();
  expect(fill(slots, undefined)).toHaveLength(64);
});

test("a freed slot is available again, in any order of taking and freeing", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ person: fc.nat(40), frees: fc.nat(3) }), { maxLength: 200 }),
      (steps) => {
        const slots = new OrderSlots();
        const open: (() => void)[] = [];
        for (const { person, frees } of steps) {
          const free = slots.take(`p${person}`);
          if (free !== undefined) open.push(free);
          for (let count = 0; count < frees; count += 1) open.shift()?.();
          expect(open.length).toBeLessThanOrEqual(32);
        }
        for (const free of open) free();
        expect(fill(slots, "alone")).toHaveLength(7);
      },
    ),
  );
});
