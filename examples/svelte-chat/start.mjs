import { startChat } from "@countersign/example-chat-agent";
import { join } from "node:path";
import { build } from "vite";
import { page } from "./page.mjs";

await build(page);
const chat = await startChat({
  folder: join(page.root, "dist"),
  environment: process.env,
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
});
if (chat === undefined) process.exitCode = 1;
