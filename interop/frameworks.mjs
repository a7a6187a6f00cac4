/** Adapters that show what a reasoning model thinks. */
const THINKS = [{ kind: "reasoning", words: "Think about it" }];

// The frameworks of the matrix: `agent` is the file below agents/, `preset` the name for `countersign init --for`, `turns`
// what only this framework has something to answer to.
export const FRAMEWORKS = [
  {
    name: "langgraph",
    title: "LangGraph JS",
    agent: "langgraph/agent.mjs",
    preset: "langgraph",
    packages: ["@ag-ui/langgraph", "@langchain/langgraph", "@langchain/langgraph-api"],
  },
  {
    name: "mastra",
    title: "Mastra",
    agent: "mastra/agent.mjs",
    preset: "mastra",
    turns: THINKS,
    packages: ["@ag-ui/mastra", "@mastra/core"],
  },
  {
    name: "strands",
    title: "AWS Strands",
    agent: "strands/agent.mjs",
    preset: "strands",
    packages: ["@ag-ui/aws-strands", "@strands-agents/sdk"],
  },
  {
    name: "copilotkit",
    title: "CopilotKit BuiltInAgent",
    agent: "copilotkit/built-in.mjs",
    preset: "copilotkit",
    turns: THINKS,
    packages: ["@copilotkit/runtime"],
  },
  {
    name: "copilotkit-runtime",
    title: "CopilotKit runtime",
    agent: "copilotkit/runtime.mjs",
    preset: "copilotkit",
    packages: ["@copilotkit/runtime"],
  },
  {
    name: "tanstack",
    title: "TanStack AI",
    agent: "tanstack/agent.mjs",
    preset: "tanstack",
    // Signed reasoning and a tool that fails: TanStack's client repeats both in forms of its own.
    turns: [...THINKS, { kind: "tool fails", words: "Find my parcel" }],
    packages: ["@tanstack/ai", "@tanstack/ai-openai"],
  },
  {
    name: "voltagent",
    title: "VoltAgent",
    agent: "voltagent/agent.mjs",
    preset: "voltagent",
    packages: ["@voltagent/ag-ui", "@voltagent/core"],
  },
  {
    name: "a2a",
    title: "A2A",
    agent: "a2a/agent.mjs",
    preset: "a2a",
    packages: ["@ag-ui/a2a", "@a2a-js/sdk"],
  },
  {
    name: "a2ui",
    title: "A2UI middleware",
    agent: "middlewares/a2ui.mjs",
    preset: "a2ui",
    packages: ["@ag-ui/a2ui-middleware"],
    turns: [
      { kind: "surface", words: "Show the form" },
      {
        kind: "surface, used",
        words: "Sent",
        forwardedProps: {
          a2uiAction: {
            userAction: { name: "send", surfaceId: "s1", sourceComponentId: "label", context: {} },
          },
        },
      },
    ],
  },
  {
    name: "mcp-apps",
    title: "MCP Apps middleware",
    agent: "middlewares/mcp-apps.mjs",
    preset: "mcp-apps",
    packages: ["@ag-ui/mcp-apps-middleware", "@modelcontextprotocol/sdk"],
    turns: [
      { kind: "app", words: "Show a chart" },
      {
        kind: "app, asks its server",
        words: "Open it",
        forwardedProps: {
          __proxiedMCPRequest: {
            serverId: "shop",
            serverHash: "",
            method: "resources/read",
            params: { uri: "ui://shop/chart" },
          },
        },
      },
    ],
  },
];
