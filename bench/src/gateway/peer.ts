import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

type Question = { readonly id: number; readonly call: string; readonly given: readonly unknown[] };
type Answer = { readonly id: number; readonly value?: unknown; readonly error?: string };

type Calls<Interface> = {
  [Name in keyof Interface]: Interface[Name] extends (...given: infer Given) => Promise<infer Value>
    ? (...given: Given) => Promise<Value>
    : never;
};

/** One of our processes, with remote calls. */
export type Peer<Interface> = {
  readonly calls: Calls<Interface>;
  readonly pid: number;
  stop(): Promise<void>;
};

const ANSWER_WITHIN_MS = 120_000;

/** In the child: handles every call of the parent with the function of that name. */
export function serveCalls<Interface extends object>(functions: Interface): void {
  const table = new Map(Object.entries(functions) as [string, (...given: unknown[]) => unknown][]);
  process.on("message", (question: Question) => {
    const answer = async (): Promise<unknown> => table.get(question.call)?.(...question.given);
    answer().then(
      (value) => process.send?.({ id: question.id, value } satisfies Answer),
      (error: unknown) =>
        process.send?.({ id: question.id, error: String(error) } satisfies Answer),
    );
  });
  process.on("disconnect", () => process.exit(0));
}

/** In the parent: starts one of our programs; `name` is the file beside this one. */
export function startPeer<Interface extends object>(
  name: string,
  execArgv: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Peer<Interface> {
  const file = fileURLToPath(new URL(`${name}.js`, import.meta.url));
  const child = fork(file, [], { execArgv: [...execArgv], env, serialization: "advanced" });
  endWithParent(child);
  const waiting = new Map<number, (answer: Answer) => void>();
  let next = 0;
  child.on("message", (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  const ask = (call: string, given: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = next++;
      const timer = setTimeout(
        () => reject(new Error(`${name}: no answer to ${call}`)),
        ANSWER_WITHIN_MS,
      );
      waiting.set(id, (answer) => {
        clearTimeout(timer);
        if (answer.error === undefined) resolve(answer.value);
        else reject(new Error(`${name}: ${answer.error}`));
      });
      child.send({ id, call, given } satisfies Question);
    });
  const calls = new Proxy(
    {},
    {
      get:
        (_, call) =>
        (...given: unknown[]) =>
          ask(String(call), given),
    },
  ) as Calls<Interface>;
  return { calls, pid: child.pid ?? 0, stop: () => stopChild(child) };
}

// One for each process between the ends, and for each database.
process.setMaxListeners(100);

/** Ends a process together with this one, also when this one is interrupted. */
export function endWithParent(child: ChildProcess): void {
  const end = (): void => void child.kill();
  process.on("exit", end);
  child.once("exit", () => process.off("exit", end));
}

/** Asks a process to end, and waits until it has. */
export function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => child.kill("SIGKILL"), 10_000);
    child.once("exit", () => {
      clearTimeout(force);
      resolve();
    });
    child.kill("SIGTERM");
  });
}
