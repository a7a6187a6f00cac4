import { WebSocket } from "ws";

/** A debugger's view into another Node process. */
export type Inspector = {
  /** Evaluates an expression there and returns its JSON value. */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Collects garbage, then tells what is left. */
  memory(): Promise<Memory>;
  close(): void;
};

/** Bytes of a process. */
export type Memory = {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
};

type Reply = {
  id?: number;
  result?: { result?: { value?: unknown }; exceptionDetails?: { text: string } };
  error?: { message: string };
};

/** Connects to the address that `node --inspect` prints. */
export async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  const waiting = new Map<
    number,
    { resolve: (reply: Reply) => void; reject: (e: Error) => void }
  >();
  let last = 0;
  socket.on("message", (data) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.id === undefined) return;
    waiting.get(reply.id)?.resolve(reply);
    waiting.delete(reply.id);
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    for (const { reject } of waiting.values()) reject(new Error("the inspected process is gone"));
    waiting.clear();
  });
  const ask = async (method: string, params: object = {}): Promise<Reply> => {
    last += 1;
    const id = last;
    const answered = new Promise<Reply>((resolve, reject) => waiting.set(id, { resolve, reject }));
    socket.send(JSON.stringify({ id, method, params }));
    const reply = await answered;
    if (reply.error !== undefined) throw new Error(reply.error.message);
    return reply;
  };
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result } = await ask("Runtime.evaluate", { expression, returnByValue: true });
    if (result?.exceptionDetails !== undefined) throw new Error(result.exceptionDetails.text);
    return result?.result?.value as Value;
  };
  return {
    evaluate,
    memory: async () => {
      // Twice: finalisers of the first round free what the second one can collect.
      await ask("HeapProfiler.collectGarbage");
      await ask("HeapProfiler.collectGarbage");
      return evaluate<Memory>("process.memoryUsage()");
    },
    close: () => socket.terminate(),
  };
}
