import { canonicalJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { createSurfaceModel } from "@countersign/surface";
import type { SurfaceFacts, SurfaceModel, SurfacePayload } from "@countersign/surface";
import type { AgUiEvent, Message } from "@countersign/wire";
import { asObject } from "../base/json-object.js";
import { ClientState } from "../classify/client-state.js";
import type { CompiledPolicy } from "../compile/compile.js";
import type { DecisionFacts } from "../compile/facts.js";
import { changesInterface, SurfacePayloads } from "../surface/payload.js";
import { addRequests, matchSurfaceRequest, readSurfaceRequests } from "../surface/request.js";
import type { MatchedRequest, ShownToThread } from "../surface/request.js";
import { addSurface } from "../surface/view.js";
import { readSubject } from "./subject.js";
import type { Subject, SubjectContext } from "./subject.js";

/** A subject with the generative UI that it draws, or with its clicks. */
export type UiSubject = Subject & Pick<DecisionFacts, "surface" | "requests">;

/** A subject, or the reason why there is none. */
export type UiSubjectResult =
  | { readonly subject: UiSubject; readonly problem?: undefined }
  | { readonly subject?: undefined; readonly problem: string };

/** The parts of a policy that a thread needs. */
export type ThreadPolicy = Pick<CompiledPolicy, "refinements" | "surfaces" | "request" | "mode">;

/** The known context of one event; the thread knows the client. */
export type ThreadContext = Omit<SubjectContext, "refinements" | "client">;

/**
 * One thread, for events that are read from a file: the state of the client, the interfaces that it shows and the
 * clicks that were used. The same code as in the gateway reads what an event draws.
 */
export class FileThread {
  readonly #policy: ThreadPolicy;
  #client: ClientState;
  #payloads: SurfacePayloads;
  readonly #model: SurfaceModel;
  readonly #names = new Map<string, string>();
  readonly #arguments = new Map<string, string>();
  /** Calls whose arguments were drawn. */
  readonly #drawn = new Set<string>();
  readonly #used = new Set<string>();

  constructor(policy: ThreadPolicy, client: ClientState = new ClientState({})) {
    this.#policy = policy;
    this.#client = client;
    this.#model = createSurfaceModel(policy.surfaces);
    this.#payloads = this.#payloadsFor(client);
  }

  /** The client after a request that holds its whole state. */
  set client(client: ClientState) {
    this.#client = client;
    this.#payloads = this.#payloadsFor(client);
  }

  #payloadsFor(client: ClientState): SurfacePayloads {
    const draws = (messageId: string): boolean => this.#model.draws(messageId);
    return new SurfacePayloads({ client, settings: this.#policy.surfaces, draws });
  }

  /** Reads the next event or request. What it draws counts as shown from now on. */
  read(value: JsonValue, context: ThreadContext = {}): UiSubjectResult {
    this.#noteCall(value, context);
    const { refinements } = this.#policy;
    const { subject, problem } = readSubject(value, {
      ...context,
      refinements,
      client: this.#client,
      ...(this.#names.size === 0
        ? {}
        : { toolNames: new Map([...this.#names, ...(context.toolNames ?? [])]) }),
    });
    if (subject === undefined) return { problem };
    const { facts } = subject;
    if (facts.source === "ENVELOPE") return { subject };
    if (facts.direction === "inbound") return { subject: this.#withRequests(subject) };
    const payloads = this.#payloadsOf(subject.value as unknown as AgUiEvent, context);
    const found = payloads.map((payload) => this.#model.apply(payload)).filter(changesInterface);
    if (found.length === 0) return { subject };
    const surface = { facts: joined(found), shown: this.#model.surfaces };
    return {
      subject: {
        ...subject,
        facts: addSurface(facts, surface.facts, refinements),
        surface,
      },
    };
  }

  /** Records that the client, or the agent, has what was read last. */
  see({ facts, value, requests = [] }: UiSubject): void {
    if (facts.direction === "inbound") {
      for (const one of requests) {
        // Only what submits is used once; `ag_ui_classify` can make it another class.
        const submits = facts.also?.some(
          ({ path, classification }) => path === one.request.path && classification === "submit",
        );
        if (submits === true) this.#use(one, value);
      }
      return;
    }
    if (facts.source === "ENVELOPE") return;
    const event = value as unknown as AgUiEvent;
    if (event.type === "MESSAGES_SNAPSHOT") {
      const messageIds = this.#client.activitiesMissingFrom(event);
      if (messageIds.length > 0) this.#model.apply({ kind: "removal", messageIds });
    }
    this.#client.see(event);
  }

  /** Remembers the name and the arguments of a call, unless the context has them. */
  #noteCall(value: JsonValue, { toolNames, toolArguments }: ThreadContext): void {
    const { type, toolCallId: id, toolCallName: name, delta } = asObject(value) ?? {};
    if (typeof type !== "string" || !type.startsWith("TOOL_CALL_") || typeof id !== "string")
      return;
    const isNew = toolNames?.has(id) !== true && !this.#names.has(id);
    if (typeof name === "string" && isNew) this.#names.set(id, name);
    if (typeof delta !== "string" || toolArguments?.has(id) === true) return;
    this.#arguments.set(id, (this.#arguments.get(id) ?? "") + delta);
  }

  #payloadsOf(event: AgUiEvent, context: ThreadContext): readonly SurfacePayload[] {
    switch (event.type) {
      case "TOOL_CALL_START":
      case "TOOL_CALL_ARGS":
      case "TOOL_CALL_CHUNK":
      case "TOOL_CALL_END": {
        const id = event.toolCallId ?? "";
        const whole = context.toolArguments?.get(id);
        const text = event.type === "TOOL_CALL_END" ? this.#arguments.get(id) : undefined;
        const name = context.toolNames?.get(id) ?? this.#names.get(id) ?? "";
        return this.#callOf(id, name, whole ?? text, event);
      }
      case "MESSAGES_SNAPSHOT":
        return event.messages.flatMap((message) => this.#listed(message));
      default:
        return list(this.#payloads.of(event));
    }
  }

  #callOf(
    id: string,
    name: string,
    text: string | undefined,
    event: AgUiEvent,
  ): readonly SurfacePayload[] {
    if (text === undefined || this.#drawn.has(id)) return [];
    const payload = this.#payloads.ofCall(id, name, text, event);
    if (payload !== undefined) this.#drawn.add(id);
    return list(payload);
  }

  /** A call whose arguments were drawn is not drawn again by a list. */
  #listed(message: Message): readonly SurfacePayload[] {
    return this.#payloads.ofMessage(message).filter((payload) => {
      if (payload.kind !== "arguments") return true;
      const isNew = !this.#drawn.has(payload.toolCallId);
      this.#drawn.add(payload.toolCallId);
      return isNew;
    });
  }

  #withRequests(subject: Subject): UiSubject {
    const { facts, value } = subject;
    const requests = readSurfaceRequests(value).map((request) =>
      matchSurfaceRequest(request, this.#shown(value)),
    );
    return withRequests({ facts, value }, requests, this.#policy);
  }

  /** The surfaces of the thread, with the uses of their actions. */
  #shown(request: JsonObject): ShownToThread {
    return {
      surfaces: this.#model.surfaces,
      findAction: (...names) => this.#model.findAction(...names),
      isUsed: (useKey) => this.#used.has(this.#useOf(useKey, request)),
    };
  }

  /** A button that a list draws can be used once for each item, each time with another context. */
  #useOf(useKey: string, value: JsonObject): string {
    const props = asObject(value["forwardedProps"]);
    const { userAction, action } = asObject(props?.["a2uiAction"]) ?? {};
    const click = asObject(userAction ?? action);
    const { surfaceId, sourceComponentId, name, context = {} } = click ?? {};
    const found = this.#model.findAction(
      String(surfaceId),
      String(sourceComponentId),
      String(name),
    );
    const isListed = found?.scopes.some((scope) => scope !== "/") === true;
    return isListed ? `${useKey} ${canonicalJson(context)}` : useKey;
  }

  #use({ request, refusal, useKey }: MatchedRequest, value: JsonObject): void {
    if (request.kind !== "click" || refusal !== undefined || useKey === undefined) return;
    if (this.#policy.request.actions.allowsRepeat(request.action)) return;
    this.#used.add(this.#useOf(useKey, value));
  }
}

/** A request with its claims; those that the policy accepts unseen are never refused. */
export function withRequests(
  { facts, value }: Subject,
  matched: readonly MatchedRequest[],
  { request: settings, refinements, mode }: ThreadPolicy,
): UiSubject {
  const check = settings.mode("actions");
  // In a policy that observes as a whole, the rules about surfaces observe the refusal.
  const isForwarded = check === "off" || (check === "observe" && mode === "enforce");
  const isCompared = settings.actions.accept !== "any" && !isForwarded;
  const requests = isCompared ? matched : matched.map(({ refusal: _refusal, ...rest }) => rest);
  return { value, facts: addRequests(facts, requests, refinements), requests };
}

function list<T>(one: T | undefined): readonly T[] {
  return one === undefined ? [] : [one];
}

/** The changes of all messages of a list. */
function joined(all: readonly SurfaceFacts[]): SurfaceFacts {
  const [first] = all;
  if (first !== undefined && all.length === 1) return first;
  return {
    isSurface: all.some(({ isSurface }) => isSurface),
    components: all.flatMap(({ components }) => components),
    removed: all.flatMap(({ removed }) => removed),
    surfaces: all.flatMap(({ surfaces }) => surfaces),
    functionCalls: all.flatMap(({ functionCalls }) => functionCalls),
    problems: all.flatMap(({ problems }) => problems),
  };
}
