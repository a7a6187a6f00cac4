// Runs the snippets that people copy against a real framework: README's curl, twice, and the store of docs/client.md.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { startGateway } from "./gateway.mjs";
import { startAgent } from "./matrix.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const page = (name) => readFileSync(join(here, "..", name), "utf8");

/** The frameworks that the snippets run against. */
export const README_FRAMEWORKS = ["langgraph", "strands", "copilotkit"];

/** Runs the snippets and returns the problems as sentences. */
export async function runReadme(framework, node, modelUrl) {
  const agent = await startAgent(framework, node, modelUrl);
  const gateway = await startGateway({ agentUrl: agent.url, mode: "observe" });
  try {
    const problems = [
      await curl(gateway),
      await curl(gateway),
      await store(gateway, framework.name),
    ];
    return problems.filter((problem) => problem !== "");
  } finally {
    await gateway.close();
    agent.close();
  }
}

function snippet(name, language, word) {
  const blocks = page(name).split(`\`\`\`${language}\n`).slice(1);
  return blocks.map((block) => block.split("```")[0]).find((block) => block.includes(word)) ?? "";
}

async function curl({ url }) {
  const command = snippet("README.md", "sh", "curl -N").replace(
    "http://127.0.0.1:8080/agents/main",
    url,
  );
  const { stdout } = await promisify(execFile)("sh", ["-c", command], { timeout: 60_000 });
  const isWhole = ["RUN_STARTED", "TEXT_MESSAGE", "RUN_FINISHED"].every((type) =>
    stdout.includes(`"type":"${type}`),
  );
  return isWhole && !stdout.includes("RUN_ERROR") ? "" : `curl: ${stdout.slice(-300)}`;
}

async function store({ url, keys }, name) {
  const code = snippet("docs/client.md", "ts", "checkReceipts")
    .replace(/ed25519:[0-9a-f]{64}/u, keys())
    .replaceAll('"/', `"${new URL(url).origin}/`);
  const file = join(here, ".cache", `readme-${name}.mjs`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code);
  const { store: opened } = await import(pathToFileURL(file));
  const { problem, messages } = await opened.send("Hello");
  if (problem !== undefined) return `store: ${problem.code} ${problem.message}`;
  return messages.at(-1)?.role === "assistant" ? "" : `store: ${JSON.stringify(messages)}`;
}
