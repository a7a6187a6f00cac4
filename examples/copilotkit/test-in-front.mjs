// The gateway in front of CopilotKit's runtime, with the page of the example in Chromium.
import assert from "node:assert/strict";

/** Chats in the page whose gateway stands in front of the runtime. */
export async function checkInFront({ check, app, page, ask, idle, phishing, until, picture }) {
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await check("in front: the answer appears, and only the gateway was asked", async () => {
    await page.goto(`${app.url}?position=front`);
    await ask("Where is my order?");
    await page.getByText("arrives on Tuesday").waitFor();
    await idle();
    assert.ok(asked.includes(`${app.gatewayUrl}/agent/support/run`));
    assert.deepEqual(
      asked.filter((url) => url.includes("/api/")),
      [],
    );
  });
  await check("in front: the phishing dialog does not appear", async () => {
    assert.equal(await page.getByTestId("prompt-user").count(), 0);
    assert.ok(!(await page.locator("body").textContent()).includes(phishing));
  });
  await check("in front: an A2UI surface appears, and its button works", async () => {
    await ask("Show me the card");
    await page.getByText("Order #1024, $42.50").waitFor();
    await page.getByRole("button", { name: "Track the order" }).click();
    await page.getByText("Here it is.").waitFor();
    await idle();
  });
  await check("in front: an MCP App appears, with its page from the MCP server", async () => {
    await ask("Show me the invoice");
    await until(async () => {
      const texts = await Promise.all(
        page.frames().map((frame) =>
          frame
            .locator("body")
            .textContent({ timeout: 1000 })
            .catch(() => ""),
        ),
      );
      return texts.slice(1).some((text) => text.includes("Invoice of order #1024"));
    });
  });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: picture });
  await check("in front: a confirmed refund comes back", async () => {
    await ask("I want a refund");
    await page.getByTestId("confirm-refund").getByRole("button", { name: "Confirm" }).click();
    await page.getByText("Done: $42.50 is on its way to your card.").waitFor();
    await idle();
  });
  await check("in front: receipts name the surface, the app and what was blocked", async () => {
    const { entries } = await app.receiptsInFront({ limit: "500", order: "oldest" });
    const seen = (allowed, type) =>
      entries.filter(
        ({ receipt }) => receipt.allowed === allowed && receipt.target?.component_type === type,
      ).length;
    assert.ok(seen(true, "a2ui-surface") > 0);
    assert.ok(seen(true, "mcp-apps") > 0);
    assert.equal(seen(false, "a2ui-surface") + seen(false, "mcp-apps"), 0);
    assert.equal(
      entries.filter(({ receipt }) => receipt.target?.component_id === "prompt").length,
      4,
    );
  });
}
