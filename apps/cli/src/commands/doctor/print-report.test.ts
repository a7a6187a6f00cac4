import { expect, test } from "vitest";
import { examine } from "@countersign/inspect";
import { displayLines } from "../../output/print.js";
import { formatReport } from "./print-report.js";

test("what a server calls itself, in its certificate or its answer, is shown and never obeyed", async () => {
  const evil = "evil\u001b[2J\u009b31m\u202e\n\u2066x";
  // A port without a listener gives a whole report without a network.
  const report = await examine("http://127.0.0.1:1/", { timeoutMs: 1000 });
  const text = formatReport({
    ...report,
    network: {
      address: "127.0.0.1",
      port: 1,
      tls: {
        version: "TLSv1.3",
        cipher: "x",
        alpn: "",
        chain: [{ subject: evil, issuer: evil, validTo: "soon" }],
      },
    },
    exchange: { method: "POST", status: 500, excerpt: evil },
  });
  expect(text).toContain("evil");
  expect(displayLines(text)).toBe(text);
});
