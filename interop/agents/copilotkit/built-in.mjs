// CopilotKit's BuiltInAgent, served as AG-UI.
import { serve } from "../serve.mjs";
import { createBuiltInAgent } from "./built-in-agent.mjs";

serve((input) => createBuiltInAgent().run(input));
