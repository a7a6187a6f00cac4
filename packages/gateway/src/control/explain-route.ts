import type { ControlApp } from "./control-env.js";
import { explainCode } from "../explain/explain-code.js";
import { explainRule } from "../explain/explain-rule.js";
import { invalidField, problem } from "./problem.js";

/** Longer than the name of any rule; a policy may define its own names. */
const MAX_NAME = 1024;

/** Explains a rule on a receipt, or the code of a refused request or a failed run, with a fix. */
export function addExplainRoute(app: ControlApp): void {
  app.get("/v1/explain", (context) => {
    const query = context.req.query();
    const unknown = Object.keys(query).find((key) => key !== "name");
    if (unknown !== undefined) throw invalidField(unknown, "left out: the only one is name");
    const name = query["name"] ?? "";
    if (name === "" || name.length > MAX_NAME) {
      throw invalidField("name", `a rule or a code of 1 to ${MAX_NAME} characters`);
    }
    const rule = explainRule(name);
    if (rule !== undefined) {
      const { means, remedy } = rule;
      return context.json({ name, kind: "rule", means, remedy });
    }
    const code = explainCode(name);
    if (code === undefined) {
      return problem(context, 404, "NAME_UNKNOWN", "No rule or code of that name is known");
    }
    const { status, title, remedy } = code;
    return context.json({ name, kind: "code", status, title, remedy });
  });
}
