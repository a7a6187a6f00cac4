/**
 * Runs commands beside each other in one container: `node together.mjs -- first … -- second …`. Whichever ends takes the others
 * along, since an agent without its gateway must not be reached, and a gateway without its agent is of no use.
 */
import { spawn } from "node:child_process";

const commands = [];
for (const word of process.argv.slice(2)) {
  if (word === "--") commands.push([]);
  else commands.at(-1)?.push(word);
}
if (commands.length === 0 || commands.some((command) => command.length === 0)) {
  process.stderr.write("usage: node together.mjs -- command … -- command …\n");
  process.exit(2);
}

const children = commands.map(([program, ...parameters]) =>
  spawn(program, parameters, { stdio: "inherit" }),
);
const endAll = () => {
  for (const child of children) child.kill("SIGTERM");
};
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, endAll);
for (const [index, child] of children.entries()) {
  child.once("error", (error) => {
    process.stderr.write(`${commands[index][0]}: ${error.message}\n`);
    process.exitCode = 127;
    endAll();
  });
  child.once("exit", (code) => {
    process.exitCode ??= code ?? 1;
    endAll();
  });
}
