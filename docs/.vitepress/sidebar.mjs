// The structure of the site. Every page is in one group; scripts/docs-site.test.mjs fails for a page without one.
import { addressOf, listPages, titleOf } from "./pages.mjs";

/** Groups in the order of the sidebar, with their pages below docs/ in the order of reading. */
const GROUPS = {
  Start: [
    "README.md",
    "start/demo.md",
    "start/tutorial.md",
    "start/typescript.md",
    "start/python.md",
    "concepts.md",
  ],
  "How-to": [
    "how-to/read-a-denial.md",
    "how-to/open-a-tool.md",
    "policy/opening.md",
    "how-to/allow-for-one-session.md",
    "how-to/langgraph.md",
    "how-to/copilotkit.md",
    "how-to/copilotkit-suggestions.md",
    "how-to/agentcore.md",
    "how-to/jwt.md",
    "how-to/operators-oidc.md",
    "how-to/eventsource.md",
    "how-to/websocket.md",
    "how-to/kubernetes.md",
    "how-to/postgresql.md",
    "how-to/redis.md",
    "how-to/several-gateways.md",
    "how-to/rotate-keys.md",
    "how-to/verify-as-an-auditor.md",
    "how-to/red-team-in-ci.md",
    "client.md",
    "client/errors-and-questions.md",
    "client/more.md",
    "console.md",
    "inspect.md",
  ],
  Operate: [
    "operate.md",
    "operate/lifecycle.md",
    "operate/monitoring.md",
    "operate/operators.md",
    "operate/control-changes.md",
    "operate/logs-and-traces.md",
    "operate/backup.md",
    "operate/retention.md",
    "operate/evidence.md",
    "operate/several-gateways.md",
    "operate/shared-limits.md",
    "operate/redis.md",
    "operate/failures.md",
    "receipts/stores.md",
    "receipts/embedded-store.md",
    "receipts/witnesses.md",
  ],
  Reference: [
    "reference/configuration.md",
    "reference/command-line.md",
    "control-api.md",
    "reference/control-api.md",
    "reference/metrics.md",
    "errors.md",
    "reference/problems.md",
    "access.md",
    "access/browsers.md",
    "capability.md",
    "capability/verification.md",
    "capability/chio.md",
    "receipts/command-line.md",
    "receipts/format.md",
    "receipts/checks.md",
    "receipts/batch-signature.md",
    "receipts/cose.md",
    "receipts/run-statement.md",
    "compatibility.md",
    "reference/frameworks.md",
  ],
  "Reference: policy": [
    "policy/grammar.md",
    "policy/tools.md",
    "policy/conditions.md",
    "policy/content.md",
    "policy/content-reading.md",
    "policy/content-fields.md",
    "policy/messages.md",
    "policy/surfaces.md",
    "policy/apps.md",
    "policy/surface-words.md",
    "policy/surface-cases.md",
    "policy/rules.md",
    "policy/testing.md",
  ],
  "Reference: events and requests": [
    "gateway.md",
    "classification.md",
    "events/changes.md",
    "events/envelopes.md",
    "events/interfaces.md",
    "events/threads.md",
    "events/limits.md",
    "events/streams.md",
    "inbound.md",
    "requests/history.md",
    "requests/approvals.md",
    "requests/clicks.md",
    "requests/ledger.md",
  ],
  "Reference: AG-UI": [
    "wire/dialects.md",
    "wire/profiles.md",
    "wire/superseded.md",
    "wire/differences.md",
    "wire-proto.md",
    "projection.md",
    "rules/README.md",
  ],
  "Red team": [
    "redteam/running.md",
    "redteam/verdicts.md",
    "redteam/requests.md",
    "redteam/modes.md",
    "redteam/library.md",
    "redteam/behind-the-gateway.md",
    "redteam/oatf.md",
  ],
  Explain: [
    "explain/architecture.md",
    "explain/alternatives.md",
    "../ARCHITECTURE.md",
    "explain/code-map.md",
    "reference/invariants.md",
    "security/threat-model.md",
    "../SECURITY.md",
    "security/fuzzing.md",
    "faults.md",
    "faults/redis.md",
    "faults/postgresql.md",
    "performance.md",
    "explain/performance-method.md",
    "explain/performance-postgresql.md",
    "explain/a-million-events.md",
    "decisions/README.md",
    "../CHANGELOG.md",
    "../CONTRIBUTING.md",
  ],
};

/** Groups of pages of one kind, one for each folder; the page that leads to them is in a group above. */
const FOLDERS = {
  "Error codes": "docs/errors/",
  "Rules of the doctor": "docs/rules/",
  Decisions: "docs/decisions/",
  Packages: "packages/",
  Examples: "examples/",
  "Apps and laboratory": ["apps/", "interop/"],
};

/** Folders whose pages are too many for the common sidebar: each has its own. */
const OWN_SIDEBAR = new Set(["Error codes", "Rules of the doctor", "Decisions"]);

/** Every group with its pages, as paths below the root of the repository. */
export function listGroups(pages = listPages()) {
  const named = Object.entries(GROUPS).map(([title, names]) => ({
    title,
    pages: names.map((name) => (name.startsWith("../") ? name.slice(3) : `docs/${name}`)),
  }));
  const taken = new Set(named.flatMap((group) => group.pages));
  const folders = Object.entries(FOLDERS).map(([title, prefixes]) => ({
    title,
    pages: pages.filter(
      (page) => !taken.has(page) && [prefixes].flat().some((prefix) => page.startsWith(prefix)),
    ),
  }));
  return [...named, ...folders];
}

function sectionOf({ title, pages }, collapsed) {
  const items = pages.map((page) => ({ text: titleOf(page), link: addressOf(page) }));
  return { text: title, collapsed, items };
}

/** The sidebars of the theme, by the beginning of an address. */
export function createSidebars() {
  const groups = listGroups();
  const common = groups.filter(({ title }) => !OWN_SIDEBAR.has(title));
  const own = groups.filter(({ title }) => OWN_SIDEBAR.has(title));
  const start = { text: "Documentation", link: "/" };
  return {
    ...Object.fromEntries(
      own.map((group) => [
        `/${FOLDERS[group.title].slice("docs/".length)}`,
        [start, sectionOf(group, false)],
      ]),
    ),
    "/": common.map((group, index) => sectionOf(group, index > 1)),
  };
}
