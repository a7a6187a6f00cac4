// Reference pages that follow from the code: the command line from its help, the control API from its OpenAPI description,
// which is written too.
// `node scripts/generate-reference.mjs` writes them after a build; scripts/reference.test.mjs compares.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { read, root } from "./sources.mjs";

const WRITTEN = "<!-- Written by scripts/generate-reference.mjs. -->";

/** The help of a command in a width that does not depend on the terminal. */
function helpOf(command) {
  let text = "";
  command.configureOutput({
    writeOut: (piece) => {
      text += piece;
    },
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  // A path below the working directory of the writer is no part of the help.
  return text.trim().replaceAll(/ \((?:\.\.\/)*docs\/[\w./-]+\.md\)/g, "");
}

function sectionsOf(command, words) {
  const name = [...words, command.name()];
  const own = `${"#".repeat(name.length)} ${name.join(" ")}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`;
  return [own, ...command.commands.flatMap((inner) => sectionsOf(inner, name))];
}

/** The page of the command line, from the commands themselves. */
export function commandLinePage(program) {
  const [first, ...rest] = sectionsOf(program, []);
  const title =
    "# Command line\n\nThe help of every command, as `countersign help COMMAND` prints it.\n";
  return `${WRITTEN}\n\n${title}\n${first.replace(/^# .*\n\n/, "")}\n${rest.join("\n")}`;
}

function cell(text) {
  return String(text)
    .replaceAll("|", String.raw`\|`)
    .replaceAll("\n", " ");
}

function nameOfSchema({ $ref, type, items, oneOf, const: value } = {}) {
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (oneOf !== undefined) return oneOf.map(nameOfSchema).join(" or ");
  if (type === "array") return `list of ${nameOfSchema(items)}`;
  if (value !== undefined) return `\`${JSON.stringify(value)}\``;
  return [type ?? "any"].flat().join(" or ");
}

function operationText(method, path, operation) {
  const { summary, parameters = [], requestBody, responses } = operation;
  const role = operation["x-countersign-role"];
  const needs = role === "none" ? "Needs no credential." : `Least role: ${role}.`;
  const lines = [`## ${method.toUpperCase()} ${path}`, "", `${summary}. ${needs}`, ""];
  if (parameters.length > 0) {
    lines.push("| parameter | in | meaning |", "|---|---|---|");
    for (const { name, in: place, description = "" } of parameters) {
      lines.push(`| \`${name}\` | ${place} | ${cell(description)} |`);
    }
    lines.push("");
  }
  for (const [type, { schema }] of Object.entries(requestBody?.content ?? {})) {
    lines.push(`Body: \`${type}\`${schema === undefined ? "" : `, ${nameOfSchema(schema)}`}.`, "");
  }
  lines.push("| status | meaning | content |", "|---|---|---|");
  for (const [status, { description, content = {} }] of Object.entries(responses)) {
    const kinds = Object.entries(content).map(([type, { schema }]) =>
      schema === undefined ? `\`${type}\`` : nameOfSchema(schema),
    );
    lines.push(`| ${status} | ${cell(description)} | ${kinds.join(", ")} |`);
  }
  return `${lines.join("\n")}\n`;
}

function schemaText(name, schema) {
  const lines = [`### ${name}`, ""];
  if (schema.description !== undefined) lines.push(`${schema.description}.`, "");
  const { properties, required = [] } = schema;
  if (properties === undefined) lines.push(nameOfSchema(schema));
  else {
    lines.push("| member | type | required | meaning |", "|---|---|---|---|");
    for (const [member, inner] of Object.entries(properties)) {
      const isRequired = required.includes(member) ? "yes" : "";
      lines.push(
        `| \`${member}\` | ${cell(nameOfSchema(inner))} | ${isRequired} | ${cell(inner.description ?? "")} |`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}

/** The page of the control API, from its OpenAPI description. */
export function controlApiPage({ paths, components }) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationText(method, path, operation)),
  );
  const schemas = Object.entries(components.schemas).map(([name, schema]) =>
    schemaText(name, schema),
  );
  const title =
    "# Control API: operations\n\nEvery operation of the [control API](../control-api.md), from its [OpenAPI description](../control-api.json). The server is the listener `control` of `countersign.yaml`; [operators](../operate/operators.md) explains roles and credentials.\n";
  return `${WRITTEN}\n\n${title}\n${operations.join("\n")}\n## Content\n\n${schemas.join("\n")}`;
}

const CONFIGURATION = "deploy/kubernetes/configuration.yaml";

/** The policy of the deployment samples: the starter in enforce mode, without its comments. */
function enforcedStarter() {
  const lines = read("packages/policy/policies/starter.yaml")
    .split("\n")
    .filter((line) => !/^\s*(?:#|$)/u.test(line))
    .map((line) => line.replace(/\s+# .*$/u, ""));
  const text = lines.join("\n").replace(/^name: .*$/mu, "name: production");
  const note = "# The starter policy in enforce mode, written by scripts/generate-reference.mjs.";
  return `${note}\n${text.replace(/^mode: .*$/mu, "mode: enforce")}\n`;
}

/** The ConfigMap, with that policy at its end. */
function kubernetesConfiguration(policy) {
  const [before] = read(CONFIGURATION).split(/(?<= {2}policy\.yaml: \|\n)/u);
  return `${before}${policy.replaceAll(/^(?=.)/gmu, "    ")}`;
}

/** The path of each page, with its text. */
export function referencePages(program) {
  return {
    "deploy/helm/countersign/files/policy.yaml": enforcedStarter(),
    [CONFIGURATION]: kubernetesConfiguration(enforcedStarter()),
    "docs/reference/command-line.md": commandLinePage(program),
    "docs/reference/control-api.md": controlApiPage(JSON.parse(read("docs/control-api.json"))),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { CONTROL_API } = await import("../packages/gateway/dist/control/openapi.js");
  writeFileSync(join(root, "docs/control-api.json"), `${JSON.stringify(CONTROL_API, null, 2)}\n`);
  const { createProgram } = await import("../apps/cli/dist/program.js");
  for (const [path, text] of Object.entries(referencePages(createProgram()))) {
    writeFileSync(join(root, path), text);
    process.stdout.write(`wrote ${path}\n`);
  }
}
