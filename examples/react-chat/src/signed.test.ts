import { startSigningGateway } from "@countersign/client/testing/signing-gateway";
import { lookAt, withChat } from "@countersign/example-chat-agent/testing";
import { findBrowser, sseFrame } from "@countersign/testkit";
import { expect, test } from "vitest";
import { pageWithStore } from "./testing/own-store.js";

/** The store of an application that puts the example behind a gateway. */
function storeFor(address: string, key: string): string {
  return `
    import { createAgentStore, postSse } from "@countersign/client";
    import { checkReceipts } from "@countersign/receipts/stream";
    export const store = createAgentStore({
      transport: postSse({ url: "http://${address}/agents/support", receipts: true }),
      verifyReceipt: checkReceipts({ trustedKeys: ["${key}"] }),
    });
  `;
}

test.skipIf(findBrowser() === undefined)(
  "behind a gateway the page tells how much of what it shows is signed for, and what is not",
  async () => {
    const gateway = await startSigningGateway(({ body }) => {
      const { threadId, runId } = JSON.parse(body) as { threadId: string; runId: string };
      const messageId = `m-${runId}`;
      return {
        pieces: [
          { type: "RUN_STARTED", threadId, runId },
          { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
          { type: "TEXT_MESSAGE_CONTENT", messageId, delta: "It costs 20 euros." },
          { type: "TEXT_MESSAGE_END", messageId },
          { type: "RUN_FINISHED", threadId, runId },
        ].map(sseFrame),
      };
    });
    const { address, key } = gateway;
    try {
      const complaints = await withChat(
        pageWithStore(storeFor(address, key)),
        async (opened) => {
          const ask = async (): Promise<void> => {
            await opened.getByLabel("Message").fill("What does it cost?");
            await opened.getByRole("button", { name: "Send" }).click();
          };
          expect(await opened.locator(".signed").count()).toBe(0);
          await ask();
          await opened.getByText("signed for: 5", { exact: true }).waitFor();
          await lookAt(opened, "react-signed");
          // An attacker on the network requests more.
          await opened.route(
            `http://${address}/**`,
            async (route) => {
              const response = await route.fetch();
              const body = (await response.text()).replace("20 euros", "90 euros");
              await route.fulfill({ response, body });
            },
            { times: 1 },
          );
          await ask();
          await opened.getByText("It costs 90 euros.").waitFor();
          await opened.getByText("signed for: 9, not: 1", { exact: true }).waitFor();
        },
        `http://${address}`,
      );
      expect(complaints).toEqual([]);
    } finally {
      await gateway.stop();
    }
  },
  120_000,
);
