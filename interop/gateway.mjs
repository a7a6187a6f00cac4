// Runs the built gateway as anybody would: `countersign init`, then `countersign serve`, in front of one agent.
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../apps/cli/dist/main.js", import.meta.url));

/**
 * Starts a gateway; resolves when it listens.
 *
 * @param mode `observe` (what `init` writes), `starter` (the same, enforced), `opened` (`init --for`, enforced)
 */
export async function startGateway({ agentUrl, mode, preset, tools }) {
  const folder = await mkdtemp(join(tmpdir(), "countersign-interop-"));
  const opened =
    mode === "opened" ? ["--for", preset, ...tools.flatMap((name) => ["--tool", name])] : [];
  const made = spawnSync(process.execPath, [cli, "init", folder, "--agent", agentUrl, ...opened], {
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`init failed: ${made.stderr}`);
  if (mode !== "observe") {
    await change(join(folder, "policy.yaml"), "mode: observe", "mode: enforce");
  }
  if (mode === "opened" && preset === "mcp-apps") {
    // Servers cannot be listed here: the middleware's hash of one covers its address, which has another port in each run.
    const policy = join(folder, `policy.${preset}.yaml`);
    await change(policy, "servers: []", "enabled: false");
  }
  const config = join(folder, "countersign.yaml");
  await change(config, "port: 8080", "port: 0");
  await change(config, "port: 8081", "port: 0");
  const child = spawn(process.execPath, [cli, "serve", "--config", config], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  const dataUrl = await addressOf(child);
  return {
    url: `${dataUrl}/agents/main`,
    keys: () => {
      const shown = spawnSync(process.execPath, [cli, "keys", "show"], {
        cwd: folder,
        encoding: "utf8",
      });
      return /ed25519:[0-9a-f]{64}/u.exec(shown.stdout)?.[0];
    },
    close: async () => {
      const gone = new Promise((resolve) => {
        child.once("exit", resolve);
      });
      if (child.exitCode === null && child.kill("SIGTERM")) await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function change(file, from, to) {
  const text = await readFile(file, "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  await writeFile(file, text.replace(from, to));
}

function addressOf(child) {
  return new Promise((resolve, reject) => {
    let printed = "";
    const hear = (part) => {
      printed += part;
      const [, dataUrl] = /listening (\S+) +control (\S+)/.exec(printed) ?? [];
      if (dataUrl !== undefined) resolve(dataUrl);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}\n${printed}`)));
  });
}
