import { clickThrough, withChat } from "@countersign/example-chat-agent/testing";
import { findBrowser } from "@countersign/testkit";
import { expect, test } from "vitest";
import { page } from "../page.mjs";

test.skipIf(findBrowser() === undefined)(
  "a person can chat, see a chart, decline, approve and stop, and the console stays silent",
  async () => {
    const complaints = await withChat(page, (opened) => clickThrough(opened, "react"));
    expect(complaints).toEqual([]);
  },
  120_000,
);
