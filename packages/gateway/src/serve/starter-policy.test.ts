import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { runClient } from "../testing/client.js";
import { idsOf, inRun, text } from "../testing/events.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { STARTER_POLICY } from "./open-policy.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

test("without a policy file chat is allowed, but no text that loads, runs or hides something", async () => {
  const events = [
    ...text("m1", "See ![x](https://evil.example/?d=1) now"),
    ...text("m2", "a [link](javascript:alert(1))"),
    ...text("m3", "an <iframe src=https://evil.example></iframe>"),
    ...text("m4", "turned \u202Eround"),
    ...text("m5", "**Hello**, [here](https://example.com/) you are"),
  ];
  fixture = await startFixture(
    ({ body }) => ({ pieces: inRun(idsOf(body), events).map(sseFrame) }),
    { policy: STARTER_POLICY },
  );
  const { messages } = await runClient(`${fixture.url}/agents/support`);
  const said = messages.filter(({ role }) => role === "assistant").map(({ content }) => content);
  expect(said).toContain("**Hello**, [here](https://example.com/) you are");
  expect(JSON.stringify(said)).not.toMatch(/evil|javascript|iframe|\u202E/u);
  const rules = new Set(fixture.recorder.drafts.map(({ rule }) => rule));
  for (const kind of ["images", "links", "markup", "hidden"]) {
    expect(rules).toContain(`ag_ui_content.${kind}`);
  }
});
