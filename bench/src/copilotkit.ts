import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { AgUiEvent } from "@countersign/wire";
import type * as React from "react";
import type * as ReactDom from "react-dom/client";
import type { AsyncCase } from "./client-compare.js";
import { drawnOn, pause } from "./client-page.js";
import type { PageDocument } from "./client-page.js";

type Agent = { readonly messages: readonly { id: string; content?: unknown }[] };

type Core = { readonly runAgent: (options: { agent: Agent }) => Promise<unknown> };

/** The used part of `@copilotkit/react-core/v2`, which is not a dependency of the workspace. */
type CopilotKit = {
  readonly CopilotKitProvider: React.FunctionComponent<{
    agents__unsafe_dev_only: Record<string, Agent>;
    enableInspector: boolean;
    children?: React.ReactNode;
  }>;
  readonly HttpAgent: new (options: {
    url: string;
    threadId: string;
    fetch: () => Promise<Response>;
  }) => Agent;
  readonly useAgent: (options: { agentId: string }) => { agent: Agent };
  readonly useCopilotKit: () => { copilotkit: Core };
};

const EXAMPLE = new URL("../../examples/copilotkit/", import.meta.url);

function versionOf(name: string): string {
  const file = new URL(`node_modules/${name}/package.json`, EXAMPLE);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

/**
 * CopilotKit's hook rendering the same chat, with the packages and the React of
 * `examples/copilotkit`; empty when they are not installed. The page must already be global.
 */
export function copilotKitCases(
  document: PageDocument,
  prepare: () => AgUiEvent[],
  responseOf: (events: AgUiEvent[]) => Response,
): AsyncCase<AgUiEvent[]>[] {
  if (!existsSync(new URL("node_modules/@copilotkit/react-core/package.json", EXAMPLE))) {
    process.stdout.write(
      "CopilotKit's hook is not measured: run `npm ci` in examples/copilotkit to have it beside the others.\n",
    );
    return [];
  }
  process.env["COPILOTKIT_TELEMETRY_DISABLED"] = "true";
  process.env["DO_NOT_TRACK"] = "1";
  const load = createRequire(fileURLToPath(new URL("package.json", EXAMPLE)));
  // Its dependency KaTeX reads the mode of the page and warns without one.
  Object.assign(document, { compatMode: "CSS1Compat" });
  // Its entry requires a style sheet, which a bundler would remove.
  load.extensions[".css"] = () => {};
  const { CopilotKitProvider, HttpAgent, useAgent, useCopilotKit } = load(
    "@copilotkit/react-core/v2",
  ) as CopilotKit;
  const { createElement, useEffect } = load("react") as typeof React;
  const { createRoot } = load("react-dom/client") as typeof ReactDom;

  async function run(events: AgUiEvent[]): Promise<number> {
    const agent = new HttpAgent({
      url: "http://agent.invalid/",
      threadId: "thread",
      fetch: () => Promise.resolve(responseOf(events)),
    });
    let core: Core | undefined;
    function Chat(): React.ReactNode {
      const { messages } = useAgent({ agentId: "default" }).agent;
      const { copilotkit } = useCopilotKit();
      useEffect(() => {
        core = copilotkit;
      }, [copilotkit]);
      const items = messages.map(({ id, content }) =>
        createElement("li", { key: id }, String(content)),
      );
      return createElement("ul", null, items);
    }
    const agents = { agents__unsafe_dev_only: { default: agent }, enableInspector: false };
    await drawnOn(
      document,
      async (element) => {
        const root = createRoot(element as unknown as ReactDom.Container);
        root.render(createElement(CopilotKitProvider, agents, createElement(Chat)));
        await pause(5);
        while (core === undefined) await pause(1);
        await core.runAgent({ agent });
        return () => root.unmount();
      },
      " word1999",
    );
    return events.length;
  }

  const versions = `${versionOf("@copilotkit/react-core")}: useAgent over @ag-ui/client ${versionOf("@ag-ui/client")}`;
  return [{ name: `CopilotKit ${versions}`, prepare, run }];
}
