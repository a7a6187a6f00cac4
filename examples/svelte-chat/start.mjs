import { serveChat } from "@countersign/example-chat-agent";
import { join } from "node:path";
import { build } from "vite";
import { page } from "./page.mjs";

await build(page);
const { url } = await serveChat({
  folder: join(page.root, "dist"),
  port: Number(process.env.PORT ?? 0),
});
process.stdout.write(`chat with the example agent: ${url}\n`);
