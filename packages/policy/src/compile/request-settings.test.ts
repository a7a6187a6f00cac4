import { expect, test } from "vitest";
import { formatIssue } from "../document/issue.js";
import { loadPolicy, readPolicy } from "../document/load.js";
import { compilePolicy } from "./compile.js";
import { REQUEST_CHECKS } from "./request-settings.js";

const settingsOf = (block: string, header = "") =>
  compilePolicy(loadPolicy(`hushspec: "0.1.0"\n${header}rules:\n  ag_ui: {}\n${block}`)).request;

test("without the block every check is enforced with its safe default", () => {
  const settings = settingsOf("");
  for (const check of REQUEST_CHECKS) expect(settings.mode(check)).toBe("enforce");
  expect(settings.unknownKeys).toBe("strip");
  expect(settings.history).toMatchObject({
    accept: "any",
    rollback: false,
    unfinished: "accept",
    interleaved: "accept",
  });
  expect([...settings.history.newRoles]).toEqual(["user", "tool"]);
  expect(settings.forwardedProps.allowsKey("anything")).toBe(false);
  expect(settings.state.allowsKey("anything")).toBe(true);
  expect(settings.tools.pinned).toBeUndefined();
});

test("observing holds for the whole policy, for the block, or for one check", () => {
  expect(settingsOf("", "mode: observe\n").mode("history")).toBe("observe");
  expect(settingsOf("  ag_ui_request: { mode: observe }\n").mode("resume")).toBe("observe");
  const one = settingsOf("  ag_ui_request: { resume: { mode: observe } }\n");
  expect([one.mode("resume"), one.mode("history")]).toEqual(["observe", "enforce"]);
  const back = settingsOf(
    "  ag_ui_request: { mode: observe, history: { mode: enforce, accept: full } }\n",
  );
  expect([back.mode("resume"), back.mode("history")]).toEqual(["observe", "enforce"]);
  expect(settingsOf("  ag_ui_request: { enabled: false }\n").mode("history")).toBe("off");
});

test("lists of names take globs", () => {
  const settings = settingsOf(
    "  ag_ui_request:\n    forwarded_props: { allow: [theme, ui.*] }\n    tools: { server_tools: [db_*] }\n    state: { keys: [cart] }\n    context: { descriptions: ['page *'] }\n",
  );
  expect(["theme", "ui.x", "model"].map(settings.forwardedProps.allowsKey)).toEqual([
    true,
    true,
    false,
  ]);
  expect(settings.tools.isServerTool("db_drop")).toBe(true);
  expect(settings.state.allowsKey("role")).toBe(false);
  expect(settings.context.allowsDescription("page title")).toBe(true);
});

test.each([
  ["ag_ui_request: { histroy: {} }\n", 'did you mean "history"?'],
  ["ag_ui_request: { history: { accept: some } }\n", "must be one of any, full, tail"],
  ["ag_ui_request: { tools: { pinned: { a: nothex } } }\n", "ag_ui_request.tools.pinned.a"],
  ["ag_ui_request: { state: { max_bytes: -1 } }\n", "at least 0"],
])("a mistake in the block is named with its place (%#)", (text, message) => {
  const issues = readPolicy(text).issues.map((issue) => formatIssue(issue));
  expect(issues.join("\n")).toContain(message);
});

test("settings that open a known hole are noted", () => {
  const { notes } = loadPolicy(
    "ag_ui: {}\nag_ui_request:\n  forwarded_props: { allow: ['*'] }\n  history: { new_roles: [user, system] }\n",
  );
  expect(notes.filter(({ code }) => code === "weak").map(({ path }) => path)).toEqual([
    "/ag_ui_request/forwarded_props/allow",
    "/ag_ui_request/history/new_roles",
  ]);
});
