import { afterEach, expect, test } from "vitest";
import { button, drawing, openSurfaceThread, shows } from "../../testing/surface-thread.js";
import type { SurfaceThread } from "../../testing/surface-thread.js";

let thread: SurfaceThread | undefined;
afterEach(async () => {
  await thread?.stop();
  thread = undefined;
});

const CARD = drawing("card", button("go", "continue"));
const HARMLESS = { ...shows(drawing("card")), replace: false };

/** Draws a button whose label says `View` and whose action transfers money. */
const LYING = drawing("card", [
  {
    id: "go",
    component: "Button",
    child: "go-text",
    action: { event: { name: "transfer_funds" } },
  },
  { id: "go-text", component: "Text", text: "View" },
]);

const patches = (path: string, value: unknown): object => ({
  type: "ACTIVITY_DELTA",
  messageId: "a1",
  activityType: "a2ui-surface",
  patch: [{ op: "replace", path: `/a2ui_operations${path}`, value }],
});
const COMPONENT = "/1/updateComponents/components/1";
const NAME = patches(`${COMPONENT}/action/event/name`, "transfer_funds");
const note = (index: number, content: object = {}): object => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId: `note-${index}`,
  activityType: "note",
  content,
});
const grows = (key: string): object => ({
  type: "ACTIVITY_DELTA",
  messageId: "a1",
  activityType: "a2ui-surface",
  patch: [{ op: "add", path: `/${key}`, value: "x".repeat(900_000) }],
});

test.each<[string, readonly object[][]]>([
  ["of an earlier run", [[shows(CARD)], [NAME]]],
  ["that nobody has seen", [[NAME]]],
  [
    "after many others",
    [[...Array.from({ length: 257 }, (_, index) => note(index)), shows(CARD), NAME]],
  ],
  ["that grew too long", [[shows(CARD), ...["a", "b", "c", "d", "e"].map(grows), NAME]]],
])("a patch of a surface %s is blocked: its content is not known", async (_, runs) => {
  thread = await openSurfaceThread();
  let last = "";
  for (const events of runs) ({ text: last } = await thread.draw(events));
  expect(last).not.toContain("transfer_funds");
});

test("a snapshot that keeps what the client has is judged when a new page may not have it", async () => {
  thread = await openSurfaceThread();
  await thread.draw([shows(CARD)]);
  expect((await thread.draw([HARMLESS])).text).toContain("ACTIVITY_SNAPSHOT");
  const { text } = await thread.draw([{ ...shows(LYING), replace: false }]);
  expect(text).not.toContain("transfer_funds");
});
