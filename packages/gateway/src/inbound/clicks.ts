import type { JsonObject } from "@countersign/core";
import { addRequests, matchSurfaceRequest, readSurfaceRequests } from "@countersign/policy";
import type {
  CompiledPolicy,
  EventFacts,
  MatchedRequest,
  ShownToThread,
  SurfaceRefusalCode,
  SurfaceRequest,
} from "@countersign/policy";
import type { RunAgentInput } from "@countersign/wire";
import type { StoredRow } from "../store/keyed-store.js";
import { digestOf } from "../thread/digest.js";
import { surfaceRow } from "../thread/shown-surfaces.js";
import type { ActionState, SurfaceState } from "../thread/shown-surfaces.js";
import type { ThreadState } from "../thread/thread-state.js";
import type { AnswerClaim, Finding, FindingCode } from "./finding.js";

/** The result of comparing what a request says about surfaces with what its thread was shown. */
export type ClickReview = {
  readonly findings: Finding[];
  /** The surfaces with their new uses. */
  readonly rows: StoredRow[];
  /** Of two gateways, one can use an action. */
  readonly claims: AnswerClaim[];
  /** For the decision of the policy; empty for most requests. */
  readonly requests: readonly MatchedRequest[];
};

const NOTHING: ClickReview = { findings: [], rows: [], claims: [], requests: [] };

type Refused = readonly [FindingCode, string];

const UNKNOWN: FindingCode = "ERR_REQUEST_ACTION_UNKNOWN";
const APP: FindingCode = "ERR_REQUEST_APP_UNKNOWN";

/** The refusals of the comparison; the sentences have no value of the client. */
const REFUSALS: Readonly<Record<SurfaceRefusalCode, Refused>> = {
  request_unreadable: [
    "ERR_REQUEST_ACTION_UNREADABLE",
    "the value is no click and no request of an app",
  ],
  action_not_shown: [UNKNOWN, "the thread shows no such component with this action"],
  context_not_declared: [
    "ERR_REQUEST_ACTION_CONTEXT",
    "the context has a key that the action does not declare",
  ],
  action_used: ["ERR_REQUEST_ACTION_USED", "the action was used before"],
  app_not_shown: [APP, "the thread shows no app of this server"],
  resource_not_shown: [APP, "the thread shows no app with this resource"],
};
const FUNCTION_UNKNOWN: Refused = [
  UNKNOWN,
  "the thread shows no component that calls this function",
];
const NO_METHOD: Refused = [
  "ERR_REQUEST_APP_METHOD",
  "an app may not send this method, or not without a name or an address",
];

/** Methods that an app may send. */
const METHODS: ReadonlySet<string> = new Set([
  "tools/call",
  "resources/read",
  "notifications/message",
  "ping",
]);

/**
 * Compares every click and every request of an MCP App with what the thread was shown and what was not removed since.
 * Pure: a click that passes is used up by the rows and claims that it returns.
 */
export function reviewClicks(
  input: RunAgentInput,
  state: ThreadState,
  policy: CompiledPolicy,
): ClickReview {
  const requests = readSurfaceRequests(input as unknown as JsonObject);
  if (requests.length === 0) return NOTHING;
  const { actions } = policy.request;
  if (actions.accept === "any" || policy.request.mode("actions") === "off") {
    const shown = shownTo(state.surfaces, () => true);
    return {
      ...NOTHING,
      requests: requests.map((request) => accepted(matchSurfaceRequest(request, shown))),
    };
  }
  const findings: Finding[] = [];
  const uses = new Uses(input, state);
  const matched = requests.map((request, index) => {
    const result = matchSurfaceRequest(
      request,
      shownTo(state.surfaces, (action) => !isUsed(action, uses.contextOf(request))),
    );
    const refused =
      index > 0 && requests.slice(0, index).some(({ path }) => isSameKey(path, request.path))
        ? REFUSALS.request_unreadable
        : refusalOf(result, input, state);
    if (refused !== undefined) {
      findings.push(found(refused, request));
      return result;
    }
    if (request.kind !== "click" || !submits(result, policy)) return result;
    if (actions.allowsRepeat(request.action)) return result;
    if (!uses.use(request)) findings.push(found(REFUSALS.action_used, request));
    return result;
  });
  const isObserved = policy.request.mode("actions") === "observe";
  return {
    findings,
    rows: uses.rows,
    claims: uses.claims.map((row) => ({
      row,
      finding: found(REFUSALS.action_used, requests[0] as SurfaceRequest),
    })),
    // Whether a refusal is only observed is decided here, not by the policy's other rules.
    requests: isObserved ? matched.map(accepted) : matched,
  };
}

/** Whether a request is one of an MCP App that matches what the thread was shown. */
export function isMatchedAppRequest(requests: readonly MatchedRequest[] = []): boolean {
  return requests.some(
    ({ request, resourceUri }) =>
      request.kind === "app" && resourceUri !== undefined && METHODS.has(request.method),
  );
}

function accepted({ refusal: _refusal, ...matched }: MatchedRequest): MatchedRequest {
  return matched;
}

/** A client has one click at a time: of two in one value an agent could read either. */
function isSameKey(one: string, other: string): boolean {
  return one.split("/")[2] === other.split("/")[2];
}

function found([code, reason]: Refused, request: SurfaceRequest): Finding {
  const about = request.kind === "click" ? request.componentId : undefined;
  return { check: "actions", code, reason, at: request.path, about };
}

function refusalOf(
  { request, refusal }: MatchedRequest,
  input: RunAgentInput,
  { surfaces }: ThreadState,
): Refused | undefined {
  if (refusal !== undefined) return REFUSALS[refusal.code];
  if (request.kind === "function") {
    const call = memberOf(input.forwardedProps, "a2uiAction", "callAgentFunction");
    const surfaceId = memberOf(call, "surfaceId");
    const isShown = [...surfaces].some(
      ([, surface]) =>
        (surfaceId === undefined || surface.surfaceId === surfaceId) &&
        surface.functions?.some(({ name }) => name === request.name) === true,
    );
    return isShown ? undefined : FUNCTION_UNKNOWN;
  }
  if (request.kind !== "app") return undefined;
  const { method, tool, uri } = request;
  if (!METHODS.has(method) || (method === "tools/call" && tool === undefined)) return NO_METHOD;
  if (method === "resources/read" && uri?.startsWith("ui://") !== true) {
    return REFUSALS.resource_not_shown;
  }
  return undefined;
}

/** Whether the policy counts the action as one that submits; `ag_ui_classify` can make it another class. */
function submits(matched: MatchedRequest, { refinements }: CompiledPolicy): boolean {
  const { also = [] } = addRequests(BARE, [matched], refinements);
  return also.some(({ classification }) => classification === "submit");
}

const BARE: EventFacts = {
  source: "RUN_AGENT_INPUT",
  direction: "inbound",
  eventType: "lifecycle",
  classification: "display",
  derived: "display",
};

/** The ledger as the comparison reads it; of several surfaces under one id the newest that `isFree` comes first. */
function shownTo(
  surfaces: ThreadState["surfaces"],
  isFree: (action: ActionState) => boolean,
): ShownToThread {
  const newestFirst = Array.from(surfaces, ([, surface]) => surface).toSorted(
    (one, other) => other.changed - one.changed,
  );
  return {
    surfaces: newestFirst.map((surface) => ({
      surfaceId: surface.surfaceId,
      kind: surface.app === undefined ? "a2ui" : "mcp-app",
      change: "created",
      sourceId: surface.sourceId,
      version: undefined,
      catalogueId: undefined,
      sendDataModel: false,
      theme: undefined,
      app: surface.app && {
        resourceUri: surface.app.uri,
        serverId: surface.app.serverId,
        serverHash: surface.app.serverHash,
        hasToolInput: false,
      },
      html: undefined,
    })),
    findAction: (surfaceId, componentId, name) => {
      const all = newestFirst.flatMap((surface) =>
        surface.surfaceId === surfaceId ? actionsOf(surface, componentId, name) : [],
      );
      const action = all.find(isFree) ?? all[0];
      if (action === undefined) return undefined;
      return {
        componentType: action.type,
        componentId: `${surfaceId}/${action.id}`,
        scopes: [],
        action: { name, kind: "event", contextKeys: action.keys, context: {}, path: "/action" },
        label: "",
        subtreeHash: action.drawn[0] ?? "",
        surfaceKind: "a2ui",
      };
    },
  };
}

/** The end that renderers of A2UI 0.8 add to the id of a component in a list, for each item: `buy:0`. */
const ITEM = /(?::\d+)+$/u;

function actionsOf(surface: SurfaceState, id: string, name: string): readonly ActionState[] {
  const own = (surface.actions ?? []).filter((action) => action.name === name);
  const exact = own.filter((action) => action.id === id);
  if (exact.length > 0) return exact;
  const listed = id.replace(ITEM, "");
  return own.filter((action) => action.isListed === true && action.id === listed);
}

/** An action has one use for each place where the person saw it; each item of a list with another context. */
function isUsed({ uses = [], count }: ActionState, context: string): boolean {
  return uses.length >= count || uses.includes(context);
}

/** The uses that the clicks of one request make of the thread's actions. */
class Uses {
  readonly rows: StoredRow[] = [];
  readonly claims: StoredRow[] = [];
  readonly #input: RunAgentInput;
  readonly #surfaces: ThreadState["surfaces"];

  constructor(input: RunAgentInput, { surfaces }: ThreadState) {
    this.#input = input;
    this.#surfaces = surfaces;
  }

  /** The digest of a click's context. */
  contextOf({ path }: SurfaceRequest): string {
    const [, , key = "", member = ""] = path.split("/");
    const action = memberOf(this.#input.forwardedProps, key, member);
    return digestOf(memberOf(action, "context") ?? {}).slice(0, 16);
  }

  /** Uses an action on every surface that shows it; returns false when none has a use left. */
  use(request: SurfaceRequest & { kind: "click" }): boolean {
    const context = this.contextOf(request);
    const claimed = this.claims.length;
    for (const [key, surface] of this.#surfaces) {
      if (surface.surfaceId !== request.surfaceId) continue;
      const free = actionsOf(surface, request.componentId, request.action).filter(
        (action) => !isUsed(action, context),
      );
      if (free.length === 0) continue;
      const actions = (surface.actions ?? []).map((action) =>
        free.includes(action) ? { ...action, uses: [...(action.uses ?? []), context] } : action,
      );
      this.rows.push(surfaceRow(key, { ...surface, actions }));
      for (const { showing, isListed } of free) {
        const id = isListed === true ? `click ${showing} ${context}` : `click ${showing}`;
        // Another run has another id, so it cannot pass for the same use.
        const value = { said: this.#input.runId };
        this.claims.push({ kind: "answer", id, value });
      }
    }
    return this.claims.length > claimed;
  }
}

/** The own member of an object at these keys; `undefined` where there is none. */
function memberOf(value: unknown, ...keys: readonly string[]): unknown {
  let place = value;
  for (const key of keys) {
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as Readonly<Record<string, unknown>>)[key];
  }
  return place;
}
