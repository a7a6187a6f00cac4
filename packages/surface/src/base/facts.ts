import type { Classification, JsonObject, JsonValue } from "@countersign/core";

/** The families of generative user interface that are read. */
export type SurfaceKind = "a2ui" | "mcp-app" | "html-sandbox";

/** The use that a client makes of a URL of a component. */
export type UrlUse =
  /** Loaded without a click. */
  | "image"
  | "video"
  | "audio"
  | "frame"
  | "script"
  | "style"
  /** Loaded by a style sheet or a part of HTML that is none of the above. */
  | "load"
  /** Opened by a click: `openUrl`, `<a href>`. */
  | "open"
  | "link"
  /** Target of a form. */
  | "submit"
  /** A domain that an MCP App may connect to, load from, frame or use as base. */
  | "connect";

/** A URL that a component loads or opens, after bindings and functions. */
export interface SurfaceUrl {
  /** The text as the client gets it; it may be relative or no URL at all. */
  readonly value: string;
  readonly use: UrlUse;
  /** The property that holds it, as JSON Pointer in the component: `/url`, `/action/functionCall/args/url`. */
  readonly path: string;
  /** Data paths that its text is made of. A path that is also the `boundPath` of an input is what a person types. */
  readonly dataPaths: readonly string[];
  /** False when a client may get another text: an input changes it, or a function that is not computed here. */
  readonly isExact: boolean;
}

/** The callers that the catalogue allows for a function: known for functions of the basic catalogue only. */
export type FunctionCaller = "rendererOnly" | "agentOnly" | "rendererOrAgent" | "unknown";

/** A function call in a component: in an action, a binding, a check or `callRendererFunction`. */
export interface SurfaceFunctionCall {
  readonly name: string;
  /** Arguments after bindings and functions. */
  readonly args: JsonObject;
  readonly caller: FunctionCaller;
  /** False: the page does not know the function; A2UI 1.0 clients ask the agent to run it. */
  readonly isBasic: boolean;
  /** JSON Pointer in the component. */
  readonly path: string;
}

/** The effect of a click on a component. */
export interface SurfaceAction {
  /** Name of the event that the agent gets; of a client-side function its name. */
  readonly name: string;
  /** `event`: sent to the agent. `function`: runs in the page, never sent. */
  readonly kind: "event" | "function";
  /** Keys of the context that the action declares, in order. */
  readonly contextKeys: readonly string[];
  /** The context after bindings; of a function its arguments. A click may send other values of the same keys, since inputs change data. */
  readonly context: JsonObject;
  /** JSON Pointer in the component: `/action`. */
  readonly path: string;
}

/** A request for something that a person types or chooses. */
export interface SurfaceInput {
  /** Visible label; empty without one. */
  readonly label: string;
  /** The component's own id, `name`/`id` of an HTML control. */
  readonly id: string;
  /** Data path that gets the value, absolute; undefined for a literal. */
  readonly boundPath: string | undefined;
  /** `text`, `longText`, `number`, `obscured`, `boolean`, `choice`, `range`, `date`; of HTML the control's type; `unknown` of a component of another catalogue. */
  readonly type: string;
  /** Whether the client hides what is typed (`obscured`, `type=password`). */
  readonly isSecret: boolean;
  /** Other texts beside the control: placeholder, options, accessibility label, `autocomplete`. */
  readonly hints: readonly string[];
}

/**
 * One component as a client draws it: after bindings, functions and list templates.
 *
 * A template draws a component once for each item of a list; each is a component of its own with
 * the same `componentId` and another `scope`.
 */
export interface SurfaceComponent {
  /** `a2ui:<Component>`, `mcp-app:<ui://…>`, `html-sandbox:<id>`. */
  readonly componentType: string;
  /** `<surfaceId>/<id>`; of an MCP App and of HTML the id of its message or call. */
  readonly componentId: string;
  readonly surfaceId: string;
  /** Message or call that it came with: clients keep the surfaces of two messages apart, also under one id. */
  readonly sourceId: string;
  /** Id within the surface, as the agent wrote it. */
  readonly id: string;
  /** Data path of the list item that it is drawn for; `/` outside templates. */
  readonly scope: string;
  readonly kind: SurfaceKind;
  /**
   * Effect on the person: an input or an action that is sent is `submit`, `openUrl` is `navigate`,
   * `Modal` is `alert`, others are `create`, or `mutate` when the client had the component.
   */
  readonly classification: Classification;
  /** Catalogue that this component names in place of the surface's (A2UI 1.0). */
  readonly catalogueId: string | undefined;
  /** Names of its properties, sorted. */
  readonly props: readonly string[];
  /** Its properties after bindings, for a JSON Schema; children are ids, `action` and `checks` stay as written. */
  readonly resolved: JsonObject;
  /**
   * Text that a person reads on it: of a component with an action or input the text of its whole
   * subtree, in order, joined by one space; of others their own text.
   */
  readonly label: string;
  /**
   * The part of `label` that is on the screen before a person opens anything: without the content of
   * modals and closed tabs, descriptions of images, names of icons, placeholders, and properties that
   * the basic catalogue does not have. Of components of other catalogues everything.
   */
  readonly visibleLabel: string;
  /**
   * False when a client may show other text: a function of the client's locale or of an unknown
   * catalogue, a subtree over a limit, a child that is not there yet, a binding that an input changes.
   */
  readonly isLabelExact: boolean;
  /** The words of a screen reader in place of the label, if set. */
  readonly accessibilityLabel: string | undefined;
  readonly actions: readonly SurfaceAction[];
  readonly functionCalls: readonly SurfaceFunctionCall[];
  readonly urls: readonly SurfaceUrl[];
  readonly inputs: readonly SurfaceInput[];
  /** Every text of its own that can be shown, Markdown included: labels, options, error messages of checks, arguments of functions. */
  readonly texts: readonly string[];
  /**
   * SHA-256, hexadecimal, over the canonical JSON of type, id, scope and resolved properties; of a
   * component with an action or input also of its subtree. It changes when what a person sees or
   * sends with it changes.
   */
  readonly subtreeHash: string;
}

/** A component that a client no longer draws. */
export interface RemovedComponent {
  readonly componentType: string;
  readonly componentId: string;
  readonly surfaceId: string;
  readonly sourceId: string;
  readonly scope: string;
}

/** A surface that was created, changed its settings, or was deleted by the event. */
export interface SurfaceInfo {
  readonly surfaceId: string;
  readonly kind: SurfaceKind;
  /** `created`, `changed`, `deleted`, or `replaced`: deleted and created in one event. */
  readonly change: "created" | "changed" | "deleted" | "replaced";
  /** Message or call that the surface came with. */
  readonly sourceId: string;
  /** A2UI version of its last operation: `0.8`, `0.9`, `1.0`. */
  readonly version: string | undefined;
  readonly catalogueId: string | undefined;
  /** Whether the page sends the whole data model with every message. */
  readonly sendDataModel: boolean;
  readonly theme: JsonValue | undefined;
  /** Of an MCP App and of HTML the type of its component: one payload can have several. */
  readonly componentType?: string;
  /** Only of an MCP App. */
  readonly app: McpAppFacts | undefined;
  /** Only of HTML: of an MCP App's resource or an open generative UI. */
  readonly html: HtmlFacts | undefined;
}

/** The names in an `mcp-apps` activity. */
export interface McpAppFacts {
  readonly resourceUri: string;
  readonly serverId: string | undefined;
  readonly serverHash: string | undefined;
  /** Whether a `toolInput` object is there; its strings are in `texts`. */
  readonly hasToolInput: boolean;
}

/** Measures of an HTML document, with its styles and scripts. */
export interface HtmlFacts {
  readonly bytes: number;
  readonly styleBytes: number;
  readonly scriptBytes: number;
  /** SHA-256 over the canonical JSON of `{html, css, jsFunctions, jsExpressions}`. */
  readonly hash: string;
  /** Whether the agent said that it is complete. */
  readonly isComplete: boolean;
  readonly forms: number;
  /** `<script>` elements, `javascript:` URLs and `on…` attributes. */
  readonly scripts: number;
  readonly frames: number;
}

/** Kinds of problems; each is a reason not to trust the rest of the event. */
export type SurfaceProblemCode =
  /** Text that is not JSON of one meaning, or not of the shape that its channel has. */
  | "surface/unreadable"
  | "surface/unknown-version"
  | "surface/unknown-operation"
  /** An operation that names more than one kind of update, or none. */
  | "surface/ambiguous-operation"
  | "surface/malformed-operation"
  | "surface/update-before-create"
  | "surface/duplicate-surface"
  /** Another message, call or agent changes a surface that it did not create. */
  | "surface/foreign-update"
  | "surface/duplicate-component"
  | "surface/missing-type"
  | "surface/changed-type"
  | "surface/unresolved-child"
  | "surface/cycle"
  | "surface/catalogue-override"
  /** A component of another catalogue: which properties are children, text and URLs is assumed. */
  | "surface/assumed-component"
  | "surface/malformed-data"
  | "surface/malformed-expression"
  | "surface/unknown-function"
  /** A URL is not known: it depends on a function that is not computed here. */
  | "surface/unknown-url"
  | "surface/agent-function"
  | "surface/over-limit";

/** Something that keeps a component from being resolved with certainty. */
export interface SurfaceProblem {
  readonly code: SurfaceProblemCode;
  /**
   * True: what the client shows is not known, so a policy must not treat the event as judged. False:
   * everything was judged, and the problem is a fact for rules.
   */
  readonly isUndecided: boolean;
  /** The surface, as far as it is known. */
  readonly surfaceId: string | undefined;
  /** JSON Pointer in the payload, or `<surfaceId>/<id>` of a component. */
  readonly place: string;
  /** One sentence for a person; no values of the payload but identifiers. */
  readonly sentence: string;
}

/** The changes that one input makes to the screen of a client. */
export interface SurfaceFacts {
  /** Whether the input was generative UI at all; if not, everything else is empty. */
  readonly isSurface: boolean;
  /** Components whose resolved form changed, in the order of drawing; labels of ancestors count. */
  readonly components: readonly SurfaceComponent[];
  readonly removed: readonly RemovedComponent[];
  readonly surfaces: readonly SurfaceInfo[];
  /** Functions that the agent asks the page to run now, outside any component (`callRendererFunction`). */
  readonly functionCalls: readonly SurfaceFunctionCall[];
  readonly problems: readonly SurfaceProblem[];
}

/** An activity of the client after the event was applied: after a delta its new type and content. */
export interface ActivityPayload {
  readonly kind: "activity";
  readonly messageId: string;
  readonly activityType: string;
  readonly content: JsonValue;
  /** The sender, where subagents are told apart. */
  readonly agent?: string;
}

/** The arguments of a tool call so far. Those of tools that do not render are ignored. */
export interface ArgumentsPayload {
  readonly kind: "arguments";
  readonly toolCallId: string;
  readonly name: string;
  /** All text so far, not only the last piece. */
  readonly text: string;
  readonly complete: boolean;
  readonly agent?: string;
}

/** A result of any tool, or of the run: its text may parse as UI. */
export interface ResultPayload {
  readonly kind: "result";
  readonly toolCallId: string;
  /** The text, or a value such as a `CallToolResult` or the content parts of a message. */
  readonly content: JsonValue;
  readonly agent?: string;
}

/** The answer to a proxied `resources/read`: the HTML of an MCP App with its permissions. */
export interface ResourcePayload {
  readonly kind: "resource";
  /** Id for the surfaces of the answer: the run. */
  readonly sourceId: string;
  readonly content: JsonValue;
}

/** Activities that a snapshot of messages took away from the client. */
export interface RemovalPayload {
  readonly kind: "removal";
  readonly messageIds: readonly string[];
}

/** One event that a client paints from, after its effect on the client is known. */
export type SurfacePayload =
  | ActivityPayload
  | ArgumentsPayload
  | ResultPayload
  | ResourcePayload
  | RemovalPayload;

/** A component with an action that a thread was shown, for verifying a click. */
export interface ShownAction {
  readonly componentType: string;
  readonly componentId: string;
  /** Scopes that the component is drawn for: `/`, or one for each item of a list. */
  readonly scopes: readonly string[];
  readonly action: SurfaceAction;
  readonly label: string;
  readonly subtreeHash: string;
  readonly surfaceKind: SurfaceKind;
}

/** A surface as it is drawn: its components from the root down. */
export interface SurfaceDrawing {
  readonly surface: SurfaceInfo;
  /** In the order of drawing; a component that two parents draw is there twice. */
  readonly components: readonly { readonly component: SurfaceComponent; readonly depth: number }[];
  /** Whether there are more components than were asked for. */
  readonly isCut: boolean;
}

/** Limits of one thread's model. Beyond one the payload is undecided (`surface/over-limit`). */
export interface SurfaceLimits {
  /** Surfaces of a thread, 256 by default; beyond them the oldest message is forgotten. */
  readonly maxSurfaces: number;
  /** Definitions in one surface; 6,000. */
  readonly maxComponents: number;
  /** Drawn components in one surface: definitions times list items; 6,000. One write may change them all. */
  readonly maxInstances: number;
  /** Nesting of drawn components; 100. */
  readonly maxDepth: number;
  /** Components below one button that its label is read from; 256. */
  readonly maxLabelComponents: number;
  /** Characters of one resolved text, and of one label; 65,536. */
  readonly maxTextLength: number;
  /** JSON values of one component's properties; 2,000. */
  readonly maxPropertyValues: number;
  /** JSON values of one data model; 100,000. */
  readonly maxDataValues: number;
  /** Characters of definitions and data of a thread, 8 Mi; beyond them the oldest message is forgotten. */
  readonly maxModelLength: number;
  /** Characters of one HTML document with styles and scripts; 1 Mi. */
  readonly maxHtmlLength: number;
  /** Steps that one expression may take; 10,000. */
  readonly maxExpressionSteps: number;
  /** Characters that one payload may draw or draw anew, after bindings. Each character of a label counts sixteen times. */
  readonly maxDrawnLength: number;
  /** Values that one payload may have read, and components looked at, together; 250,000. */
  readonly maxSteps: number;
  /** The same for all payloads of a model together; each component that is drawn anew adds 1,000. */
  readonly maxTotalLength: number;
  /** Problems reported for one payload; 64, and then one `surface/over-limit`. */
  readonly maxProblems: number;
}

/** Settings of a model. */
export interface SurfaceModelOptions {
  readonly limits?: Partial<SurfaceLimits>;
  /** Further tools whose arguments a client or middleware draws as A2UI, beside `RENDERING_TOOLS`. */
  readonly renderingTools?: readonly string[];
  /** Further types of activities that a client draws, beside `RENDERING_ACTIVITIES`. */
  readonly renderingActivities?: readonly string[];
}

/**
 * The generative UI that one thread shows. It is made of the payloads in order, so a caller rebuilds
 * it by applying them again; it does no I/O and keeps no time.
 */
export interface SurfaceModel {
  /** Applies what a client was sent; never throws on data. */
  apply(payload: SurfacePayload): SurfaceFacts;
  /**
   * Takes back the last `apply`: its event was blocked, so the client never got it. Without effect
   * when there is nothing to take back, so a second call in a row does nothing.
   */
  undo(): void;
  /** The action of a component that is drawn now; undefined when it is not, or has no such action. */
  findAction(surfaceId: string, componentId: string, actionName: string): ShownAction | undefined;
  /** A drawn component; without a scope the first one. */
  component(surfaceId: string, componentId: string, scope?: string): SurfaceComponent | undefined;
  /** Whether a message or call shows an interface now. */
  draws(sourceId: string): boolean;
  /** The surfaces of a message or call now, each with at most so many components. */
  drawings(sourceId: string, maxComponents: number): readonly SurfaceDrawing[];
  /** Surfaces that are shown now. */
  readonly surfaces: readonly SurfaceInfo[];
}
