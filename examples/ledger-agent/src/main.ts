import { start } from "./start.js";

const running = await start(process.env, {
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
});
if (running === undefined) process.exitCode = 1;
else process.once("SIGINT", () => void running.stop());
