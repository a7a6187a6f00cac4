import { findBrowser } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openConsole } from "./testing/opened.js";
import type { Opened } from "./testing/opened.js";

const hasNoBrowser = findBrowser() === undefined;
let opened: Opened;
beforeAll(async () => {
  if (!hasNoBrowser) opened = await openConsole();
});
afterAll(() => opened?.stop());

test.skipIf(hasNoBrowser)(
  "a wrong token leads back to the login with the reason, the right one to the live feed of the gateway",
  async () => {
    const page = await opened.open("#/live", { isSignedIn: false });
    await page.getByLabel("Admin token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("does not take this token").waitFor();
    // The browser itself tells of the 401, which is what was asked for.
    opened.complaints.length = 0;
    await page.getByLabel("Admin token").fill(opened.served.adminToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Nothing has been decided yet").waitFor();
    await opened.talk("alice", "run-1");
    await page
      .getByRole("row")
      .filter({ hasText: "TOOL_CALL_START" })
      .getByText("blocked")
      .waitFor();
    await page.getByRole("row").filter({ hasText: "RUN_AGENT_INPUT" }).getByText("noted").waitFor();
    await page.getByRole("row").filter({ hasText: "RUN_FINISHED" }).getByText("allowed").waitFor();
    expect(page.url()).not.toContain(opened.served.adminToken);
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.length])).toEqual([0, 0]);
    expect(opened.complaints).toEqual([]);
    await page.context().close();
  },
);
