// AG-UI's A2UI middleware around CopilotKit's BuiltInAgent: surfaces come as activities.
import { A2UIMiddleware } from "@ag-ui/a2ui-middleware";
import { createBuiltInAgent } from "../copilotkit/built-in-agent.mjs";
import { serve } from "../serve.mjs";

serve((input) => new A2UIMiddleware({ injectA2UITool: true }).run(input, createBuiltInAgent()));
