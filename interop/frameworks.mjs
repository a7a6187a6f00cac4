// The frameworks of the matrix. `folder` is the one below agents/, `preset` the name for `countersign init --for`.
export const FRAMEWORKS = [
  {
    name: "langgraph",
    title: "LangGraph JS",
    folder: "langgraph",
    preset: "langgraph",
    packages: ["@ag-ui/langgraph", "@langchain/langgraph", "@langchain/langgraph-api"],
  },
  {
    name: "mastra",
    title: "Mastra",
    folder: "mastra",
    preset: "mastra",
    packages: ["@ag-ui/mastra", "@mastra/core"],
  },
  {
    name: "strands",
    title: "AWS Strands",
    folder: "strands",
    preset: "strands",
    packages: ["@ag-ui/aws-strands", "@strands-agents/sdk"],
  },
  {
    name: "copilotkit",
    title: "CopilotKit BuiltInAgent",
    folder: "copilotkit",
    preset: "copilotkit",
    packages: ["@copilotkit/runtime"],
  },
];
