import { resolveRenderHint, SNAPSHOT_KEYS } from "@countersign/client";
import type {
  AcceptHint,
  AgentActions,
  AgentSnapshot,
  AgentStore,
  ComponentMap,
  RenderHintView,
} from "@countersign/client";
import { getContext, hasContext, setContext } from "svelte";
import type { Component, ComponentInternals, Snippet } from "svelte";
import { createSubscriber } from "svelte/reactivity";
import type { Readable } from "svelte/store";

const STORE = Symbol("countersign agent");

/** Props of {@link AgentProvider}. */
export type AgentProviderProps = {
  readonly agent: AgentStore;
  readonly children?: Snippet;
};

/**
 * Gives a store to everything below it. It neither creates nor closes the store: its owner does.
 *
 * Written as the function that a component compiles to, so that this package needs no compiler; the
 * context is that of the component it stands in, which should hold one provider only.
 */
export const AgentProvider: Component<AgentProviderProps> = (internals, { agent, children }) => {
  setContext(STORE, agent);
  (children as ((internals: ComponentInternals) => void) | undefined)?.(internals);
  return {};
};

/** The conversation as it stands, and what can be asked for. */
export type Agent = AgentSnapshot & AgentActions;

/** One listener per store, however many components read it; none without a component. */
const readers = new WeakMap<AgentStore, () => AgentSnapshot>();

function readerOf(store: AgentStore): () => AgentSnapshot {
  const known = readers.get(store);
  if (known !== undefined) return known;
  const track = createSubscriber((update) => store.subscribe(update));
  const reader = (): AgentSnapshot => {
    track();
    return store.getSnapshot();
  };
  readers.set(store, reader);
  return reader;
}

/**
 * The conversation of the nearest provider, or of the store that is given. Its properties are read
 * afresh each time, so do not take them apart outside of an effect, a `$derived` or the markup.
 */
export function useAgent(store?: AgentStore): Agent {
  const agent = storeOf(store);
  const read = readerOf(agent);
  const { send, resume, answer, retry, stop } = agent;
  const actions: AgentActions = { send, resume, answer, retry, stop };
  const properties = SNAPSHOT_KEYS.map((key) => [
    key,
    { enumerable: true, get: () => read()[key] },
  ]);
  return Object.defineProperties(actions, Object.fromEntries(properties)) as Agent;
}

/**
 * A part of the conversation, in `current`; what reads it runs again only when that part is another one.
 *
 * The selector may build a fresh object, if `isEqual` compares its content.
 */
export function useAgentSelector<Selection>(
  selector: (snapshot: AgentSnapshot) => Selection,
  isEqual: (left: Selection, right: Selection) => boolean = Object.is,
  store?: AgentStore,
): { readonly current: Selection } {
  const agent = storeOf(store);
  let memo: { snapshot: AgentSnapshot; value: Selection } | undefined;
  const select = (): Selection => {
    const snapshot = agent.getSnapshot();
    if (memo?.snapshot === snapshot) return memo.value;
    const value = selector(snapshot);
    memo = {
      snapshot,
      value: memo !== undefined && isEqual(memo.value, value) ? memo.value : value,
    };
    return memo.value;
  };
  const track = createSubscriber((update) =>
    agent.subscribe(() => {
      const before = memo?.value;
      if (!Object.is(before, select())) update();
    }),
  );
  return {
    get current() {
      track();
      return select();
    },
  };
}

/** The conversation as a Svelte store, for `$agent` and for code that knows stores only. */
export function agentReadable(store: AgentStore): Readable<AgentSnapshot> {
  return {
    subscribe: (run) => {
      run(store.getSnapshot());
      return store.subscribe(() => run(store.getSnapshot()));
    },
  };
}

/** Props of {@link RenderHint}. */
export type RenderHintProps = {
  readonly hint: RenderHintView;
  /** The page's component for each name that an agent may use. */
  readonly components: ComponentMap<Component<never>>;
  /** Checks or narrows the agent's values; nothing means that the hint is not shown. */
  readonly accept?: AcceptHint;
  /** The fallback for a hint that the page does not know or refuses; nothing by default. */
  readonly fallback?: Component<{ hint: RenderHintView }>;
};

/**
 * Shows what an agent hinted at, by the page's own components and never by anything of the agent's.
 *
 * A hint never changes, so it is resolved once; in a list, key the block by `hint.id`.
 */
export const RenderHint: Component<RenderHintProps> = (internals, props) => {
  const { hint, components, accept, fallback } = props;
  const resolved = resolveRenderHint(hint, components, accept);
  if (resolved !== undefined) (resolved.component as Component)(internals, resolved.props);
  else fallback?.(internals, { hint });
  return {};
};

function storeOf(given: AgentStore | undefined): AgentStore {
  const store = given ?? (hasContext(STORE) ? getContext<AgentStore>(STORE) : undefined);
  if (store === undefined) throw new TypeError("no agent: use an AgentProvider or pass a store");
  return store;
}
