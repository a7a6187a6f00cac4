import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Scene } from "./scene.js";

/** An agent that can be killed. */
export type AgentChild = { readonly url: string; readonly port: number; kill(): Promise<void> };

/** Starts an agent as a process, on a free port or on one it had before. */
export async function startAgentChild(scene: Scene, port = 0): Promise<AgentChild> {
  const program = fileURLToPath(new URL("agent-process.mjs", import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [program, String(port)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await gone;
  };
  scene.defer(kill);
  const taken = await new Promise<number>((resolve, reject) => {
    child.stdout?.once("data", (line: Buffer) => resolve(Number(line.toString())));
    child.once("exit", (code) => reject(new Error(`the agent ended with ${code}`)));
  });
  return { url: `http://127.0.0.1:${taken}/`, port: taken, kill };
}
