import type { JsonObject, JsonValue } from "@countersign/core";
import { RENDERING_ACTIVITIES, RENDERING_TOOLS } from "@countersign/surface";
import { AG_UI_BLOCKS } from "../schema/policy-schema.js";
import type { FileDocument } from "./fragment.js";
import { asObject } from "../base/json-object.js";
import { matchesGlob } from "../patterns/glob.js";
import type { PolicyNote, PolicyNoteCode } from "./note.js";
import type { PositionTable } from "./source.js";
import { childPointer, issueAt } from "./source.js";
import { targetByFamily } from "../vocabulary/target.js";
import type { Target } from "../vocabulary/target.js";

/** Notes about a valid file: blocks without effect, entries that can never match, weak settings. */
export function lintFile(document: FileDocument, positions: PositionTable): PolicyNote[] {
  const notes: PolicyNote[] = [];
  const add = (path: readonly (string | number)[], code: PolicyNoteCode, message: string): void => {
    const pointer = path.reduce<string>(childPointer, document.rulesPointer);
    notes.push({ ...issueAt(positions, pointer, "bad-value", message), code });
  };
  const { rules } = document;
  for (const block of Object.keys(rules)) {
    if (!Object.hasOwn(AG_UI_BLOCKS, block)) {
      const hint = block === "tool_access" ? " (calls on the stream: ag_ui_tools)" : "";
      add([block], "no-effect", `${block} has no effect on AG-UI events${hint}`);
    }
  }
  lintComponents(asObject(rules["ag_ui_components"]), add);
  lintAgUi(asObject(rules["ag_ui"]), add);
  lintRequest(asObject(rules["ag_ui_request"]), add);
  lintEvidence(asObject(rules["ag_ui_evidence"]), add);
  lintSurfaces(asObject(rules["ag_ui_surfaces"]), add);
  lintApps(asObject(rules["ag_ui_apps"]), add);
  for (const rule of velocityRules(rules["velocity"])) {
    if (rule["max_spend_per_window"] !== undefined) {
      add(["velocity"], "no-effect", "max_spend_per_window has no effect: events carry no price");
    }
  }
  return notes;
}

type Add = (path: readonly (string | number)[], code: PolicyNoteCode, message: string) => void;

function lintComponents(block: JsonObject | undefined, add: Add): void {
  if (block === undefined) return;
  const types = strings(block["allow_components"]);
  if (types.length > 0) {
    strings(block["allow_ids"]).forEach((id, index) => {
      const type = id.slice(0, id.indexOf(":"));
      const covered = types.some(
        (name) =>
          name === type ||
          // `a2ui:Button` covers `a2ui:Button:s1/b`.
          id.startsWith(`${name}:`) ||
          (name.endsWith("*") &&
            (type.startsWith(name.slice(0, -1)) || id.startsWith(name.slice(0, -1)))),
      );
      if (!covered) {
        add(
          ["ag_ui_components", "allow_ids", index],
          "unreachable",
          `"${id}" can never match: "${type}" is not in allow_components`,
        );
      }
    });
  }
  if (block["default"] === "allow") {
    for (const key of ["allow_components", "allow_ids"]) {
      if (strings(block[key]).length > 0) {
        add(["ag_ui_components", key], "no-effect", `${key} has no effect with default: allow`);
      }
    }
  }
}

function lintAgUi(block: JsonObject | undefined, add: Add): void {
  if (block === undefined) return;
  const restricted = block["restricted_classifications"];
  if (Array.isArray(restricted) && block["allow_display_without_capability"] === true) {
    const open = ["submit", "navigate"].filter((name) => !restricted.includes(name));
    if (open.length > 0) {
      add(
        ["ag_ui", "restricted_classifications"],
        "weak",
        `${open.join(" and ")} events pass without a capability`,
      );
    }
  }
  const scopes = block["capability_scopes"];
  if (!Array.isArray(scopes)) return;
  scopes.forEach((scope, index) => {
    const entry = asObject(scope);
    const id = entry?.["scope_id"];
    if (typeof id !== "string") return;
    const [, , type = "*", ...rest] = id.split(":");
    const component = rest.length === 0 ? "*" : rest.join(":");
    const targets = entry?.["allow_targets"];
    if (!Array.isArray(targets)) return;
    targets.forEach((target, position) => {
      const { component_type: named = "", component_id: componentId } = (asObject(target) ??
        {}) as Partial<Target>;
      const own = {
        component_type: named,
        ...(componentId === undefined ? {} : { component_id: componentId }),
      };
      const fits = [own, targetByFamily(own)].some(
        (one) =>
          (type === "*" || one?.component_type === type) &&
          (component === "*" || one?.component_id === component),
      );
      if (!fits) {
        add(
          ["ag_ui", "capability_scopes", index, "allow_targets", position],
          "unreachable",
          `nothing opens this target: the scope ${id} does not cover it`,
        );
      }
    });
  });
}

function lintRequest(block: JsonObject | undefined, add: Add): void {
  if (block === undefined) return;
  if (block["enabled"] === false) {
    add(["ag_ui_request", "enabled"], "weak", "nothing that a browser says is checked");
  }
  if (strings(asObject(block["forwarded_props"])?.["allow"]).includes("*")) {
    add(
      ["ag_ui_request", "forwarded_props", "allow"],
      "weak",
      "a browser may pass any property: agents take users, models and commands from them",
    );
  }
  if (asObject(block["actions"])?.["accept"] === "any") {
    add(
      ["ag_ui_request", "actions", "accept"],
      "weak",
      "a browser may forge clicks, and reach any tool server through an app",
    );
  }
  const history = asObject(block["history"]);
  const authority = strings(history?.["new_roles"]).filter(
    (role) => role === "system" || role === "developer",
  );
  if (authority.length > 0) {
    add(
      ["ag_ui_request", "history", "new_roles"],
      "weak",
      `a browser may speak as ${authority.join(" and ")}`,
    );
  }
}

function lintEvidence(block: JsonObject | undefined, add: Add): void {
  if (block === undefined) return;
  const never = Array.isArray(block["never"]) ? block["never"] : [];
  const every = never.findIndex((match) => Object.keys(asObject(match) ?? {}).length === 0);
  if (every === -1) return;
  const says = "an empty match covers every event: no payload is kept, and redact has no effect";
  add(["ag_ui_evidence", "never", every], "no-effect", says);
}

function lintSurfaces(block: JsonObject | undefined, add: Add): void {
  if (block === undefined) return;
  if (block["enabled"] === false) {
    add(
      ["ag_ui_surfaces", "enabled"],
      "weak",
      "catalogues, URLs, inputs and labels of surfaces are not checked. Fix: remove enabled: false and list what agents may draw",
    );
  }
  const known = [...RENDERING_TOOLS.a2ui, ...RENDERING_TOOLS.html];
  for (const [key, names] of [
    ["rendering_tools", known],
    ["rendering_activities", RENDERING_ACTIVITIES],
  ] as const) {
    strings(block[key]).forEach((name, index) => {
      if (!names.includes(name)) return;
      add(
        ["ag_ui_surfaces", key, index],
        "no-effect",
        `"${name}" is always read as an interface. Fix: remove it from ${key}`,
      );
    });
  }
  const urls = asObject(block["urls"]);
  if (strings(urls?.["hosts"]).includes("*") && urls?.["unknown"] === "allow") {
    add(
      ["ag_ui_surfaces", "urls", "unknown"],
      "weak",
      "an image can carry away what a person types. Fix: list hosts, or remove unknown: allow",
    );
  }
  const catalogues = block["catalogues"];
  (Array.isArray(catalogues) ? catalogues : []).forEach((value, index) => {
    const entry = asObject(value);
    const components = entry?.["components"];
    for (const name of Object.keys(asObject(entry?.["schemas"]) ?? {})) {
      if (!Array.isArray(components)) continue;
      if (strings(components).some((pattern) => matchesGlob(pattern, name))) continue;
      add(
        ["ag_ui_surfaces", "catalogues", index, "schemas", name],
        "unreachable",
        `the schema of "${name}" is never used. Fix: add "${name}" to components`,
      );
    }
  });
}

function lintApps(block: JsonObject | undefined, add: Add): void {
  if (block === undefined) return;
  if (block["enabled"] === false) {
    add(
      ["ag_ui_apps", "enabled"],
      "weak",
      "MCP Apps and HTML of agents are not checked. Fix: remove enabled: false and list servers and resources",
    );
  }
  const resources = block["resources"];
  (Array.isArray(resources) ? resources : []).forEach((value, index) => {
    const entry = asObject(value);
    if (entry?.["uri"] !== "*" || entry["sha256"] !== undefined) return;
    add(
      ["ag_ui_apps", "resources", index],
      "weak",
      "every app of the servers passes, with any HTML. Fix: list the resources by name",
    );
  });
}

function velocityRules(value: JsonValue | undefined): JsonObject[] {
  const list = Array.isArray(value) ? value : [value];
  return list.map(asObject).filter((rule) => rule !== undefined);
}

function strings(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}
