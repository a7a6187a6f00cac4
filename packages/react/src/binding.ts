import { resolveRenderHint } from "@countersign/client";
import type {
  AcceptHint,
  AgentActions,
  AgentSnapshot,
  AgentStore,
  ComponentMap,
  RenderHintView,
} from "@countersign/client";
import {
  createContext,
  createElement,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from "react";
import type { ComponentType, ReactNode } from "react";

const StoreContext = createContext<AgentStore | undefined>(undefined);

/** Props of {@link AgentProvider}. */
export type AgentProviderProps = {
  readonly agent: AgentStore;
  readonly children?: ReactNode;
};

/** Gives a store to everything below it. It neither creates nor closes the store: its owner does. */
export function AgentProvider({ agent, children }: AgentProviderProps): ReactNode {
  return createElement(StoreContext.Provider, { value: agent }, children);
}

/** The conversation as it stands, and what can be asked for. */
export type Agent = AgentSnapshot & AgentActions;

/** The conversation of the nearest provider, or of the store that is given; renders at each change. */
export function useAgent(store?: AgentStore): Agent {
  const agent = useStore(store);
  const snapshot = useSyncExternalStore(
    agent.subscribe,
    agent.getSnapshot,
    agent.getServerSnapshot,
  );
  return useMemo(() => {
    const { send, resume, answer, retry, stop } = agent;
    return { ...snapshot, send, resume, answer, retry, stop };
  }, [agent, snapshot]);
}

/**
 * A part of the conversation; renders only when that part is another one.
 *
 * The selector may be written in place and may build a fresh object, if `isEqual` compares its content.
 */
export function useAgentSelector<Selection>(
  selector: (snapshot: AgentSnapshot) => Selection,
  isEqual: (left: Selection, right: Selection) => boolean = Object.is,
  store?: AgentStore,
): Selection {
  const agent = useStore(store);
  // The last drawn selection, so that an equal selection keeps its identity under a new selector.
  const drawn = useRef<{ value: Selection } | undefined>(undefined);
  const [select, selectOnServer] = useMemo(() => {
    let memo: { snapshot: AgentSnapshot; value: Selection } | undefined;
    const of = (snapshot: AgentSnapshot): Selection => {
      if (memo?.snapshot === snapshot) return memo.value;
      const value = selector(snapshot);
      const known = memo ?? drawn.current;
      memo = {
        snapshot,
        value: known !== undefined && isEqual(known.value, value) ? known.value : value,
      };
      return memo.value;
    };
    return [() => of(agent.getSnapshot()), () => of(agent.getServerSnapshot())];
  }, [agent, selector, isEqual]);
  const value = useSyncExternalStore(agent.subscribe, select, selectOnServer);
  useEffect(() => {
    drawn.current = { value };
  }, [value]);
  return value;
}

/** Props of {@link RenderHint}. */
export type RenderHintProps = {
  readonly hint: RenderHintView;
  /** The page's component for each name that an agent may use. */
  readonly components: ComponentMap<ComponentType<never>>;
  /** Checks or narrows the agent's values; nothing means that the hint is not shown. */
  readonly accept?: AcceptHint;
  /** The fallback for a hint that the page does not know or refuses; nothing by default. */
  readonly fallback?: ComponentType<{ hint: RenderHintView }>;
};

/** Shows what an agent hinted at, by the page's own components and never by anything of the agent's. */
export function RenderHint({ hint, components, accept, fallback }: RenderHintProps): ReactNode {
  const resolved = useMemo(
    () => resolveRenderHint(hint, components, accept),
    [hint, components, accept],
  );
  if (resolved !== undefined) {
    return createElement(resolved.component as ComponentType<object>, resolved.props);
  }
  return fallback === undefined ? null : createElement(fallback, { hint });
}

function useStore(given: AgentStore | undefined): AgentStore {
  const provided = useContext(StoreContext);
  const store = given ?? provided;
  if (store === undefined) throw new TypeError("no agent: use an AgentProvider or pass a store");
  return store;
}
