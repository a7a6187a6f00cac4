import { HttpAgent } from "@ag-ui/client";
import type { Message } from "@ag-ui/client";
import { createAgentStore, postSse } from "@countersign/client";
import type { AgUiEvent } from "@countersign/wire";
import { Window } from "happy-dom";
import type { Container } from "react-dom/client";
import type { AsyncCase } from "./client-compare.js";
import { drawnOn, pause } from "./client-page.js";
import { copilotKitCases } from "./copilotkit.js";

/**
 * The same chat rendered by React into a page without a screen: over our binding, as a page uses
 * the official client (each change of the messages sets a state), and over CopilotKit's hook if
 * installed.
 */
export async function drawingCases(
  prepare: () => AgUiEvent[],
  responseOf: (events: AgUiEvent[]) => Response,
): Promise<AsyncCase<AgUiEvent[]>[]> {
  const window = new Window();
  const { document, navigator } = window;
  Object.assign(globalThis, {
    window,
    document,
    ...("navigator" in globalThis ? {} : { navigator }),
  });
  // Production mode: the development build would measure its own warnings.
  process.env["NODE_ENV"] = "production";
  const { createElement, useEffect, useState } = await import("react");
  const { createRoot } = await import("react-dom/client");
  const { useAgent } = await import("@countersign/react");
  const url = "http://agent.invalid/";

  function list(
    messages: readonly { id: string; content?: unknown }[],
  ): ReturnType<typeof createElement> {
    return createElement(
      "ul",
      null,
      messages.map(({ id, content }) => createElement("li", { key: id }, String(content))),
    );
  }

  return [
    {
      name: "@ag-ui/client 1.0.0: HttpAgent, onMessagesChanged, useState",
      prepare,
      run: async (events) => {
        const agent = new HttpAgent({
          url,
          threadId: "thread",
          fetch: () => Promise.resolve(responseOf(events)),
        });
        function Chat(): ReturnType<typeof createElement> {
          const [messages, setMessages] = useState<readonly Message[]>([]);
          useEffect(() => {
            const { unsubscribe } = agent.subscribe({
              onMessagesChanged: ({ messages: changed }) => setMessages([...changed]),
            });
            setMessages([...agent.messages]);
            return unsubscribe;
          }, []);
          return list(messages);
        }
        await drawnOn(
          document,
          async (element) => {
            const root = createRoot(element as unknown as Container);
            root.render(createElement(Chat));
            await pause(5);
            await agent.runAgent({ runId: "run" });
            return () => root.unmount();
          },
          " word1999",
        );
        return events.length;
      },
    },
    {
      name: "countersign: store, useAgent",
      prepare,
      run: async (events) => {
        const transport = postSse({ url, fetch: () => Promise.resolve(responseOf(events)) });
        const store = createAgentStore({ transport, threadId: "thread", mintId: (kind) => kind });
        function Chat(): ReturnType<typeof createElement> {
          return list(useAgent(store).messages);
        }
        await drawnOn(
          document,
          async (element) => {
            const root = createRoot(element as unknown as Container);
            root.render(createElement(Chat));
            await pause(5);
            await store.send();
            return () => root.unmount();
          },
          " word1999",
        );
        return events.length;
      },
    },
    ...copilotKitCases(document, prepare, responseOf),
  ];
}
