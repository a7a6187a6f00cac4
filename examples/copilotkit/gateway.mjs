// Runs the built gateway as a user does, `countersign serve`.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../../apps/cli/dist/main.js", import.meta.url));

/**
 * Starts a gateway; resolves when it listens.
 *
 * @param settings `agents` and `origins` of countersign.yaml
 * @param policyFile its policy, beside this file
 * @param values words of the policy that differ at each start
 */
export async function startGateway(settings, policyFile, values) {
  const folder = await mkdtemp(join(tmpdir(), "countersign-copilotkit-"));
  let policy = fileURLToPath(new URL(policyFile, import.meta.url));
  if (values !== undefined) {
    let text = await readFile(policy, "utf8");
    for (const [word, value] of Object.entries(values)) text = text.replaceAll(word, value);
    policy = join(folder, "policy.yaml");
    await writeFile(policy, text);
  }
  const config = join(folder, "countersign.yaml");
  await writeFile(
    config,
    JSON.stringify({ ...settings, policy, listen: { port: 0 }, control: { port: 0 } }),
  );
  const child = spawn(process.execPath, [cli, "serve", "--config", config], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NO_COLOR: "1" },
  });
  // The gateway ends with this process, however that ends.
  const kill = () => child.kill("SIGTERM");
  process.once("exit", kill);
  const { dataUrl, controlUrl, adminToken } = await addressesOf(child);
  const control = async (path, body) => {
    const answer = await fetch(new URL(path, controlUrl), {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer.json();
  };
  return {
    url: `${dataUrl}/agents/support`,
    control,
    close: async () => {
      process.off("exit", kill);
      if (child.exitCode === null) {
        const gone = new Promise((resolve) => {
          child.once("exit", resolve);
        });
        kill();
        await gone;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function addressesOf(child) {
  return new Promise((resolve, reject) => {
    let printed = "";
    let failed = "";
    const hear = (part) => {
      printed += part;
      const [, dataUrl, controlUrl] = /listening (\S+) +control (\S+)/.exec(printed) ?? [];
      const [, adminToken] = /admin token, shown once: (\S+)\n/.exec(printed) ?? [];
      if (dataUrl !== undefined && adminToken !== undefined) {
        resolve({ dataUrl, controlUrl, adminToken });
      }
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", (part) => {
      failed += part;
      hear(part);
    });
    child.once("exit", (code) =>
      reject(new Error(`the gateway ended with ${code} before it listened\n${failed}`)),
    );
  });
}
