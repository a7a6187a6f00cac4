const IMPORT =
  'import { AgentProvider, RenderHint, useAgent, useAgentSelector, agentReadable } from "./index.js";';

/** The components that the tests draw, by file name. */
export const COMPONENTS: Readonly<Record<string, string>> = {
  "LastText.svelte": `<script>${IMPORT}
    let { store, drawn = () => {} } = $props();
    const agent = useAgent(store);
    $effect.pre(() => { void agent.messages; drawn(); });
  </script>{agent.status}: {String(agent.messages.at(-1)?.content)}`,

  "Provided.svelte": `<script>${IMPORT}
    import LastText from "LastText.svelte";
    let { store } = $props();
  </script><AgentProvider agent={store}><LastText /></AgentProvider>`,

  "Nested.svelte": `<script>${IMPORT}
    import Provided from "Provided.svelte";
    let { outer, inner } = $props();
  </script><AgentProvider agent={outer}><Provided store={inner} /></AgentProvider>`,

  "Status.svelte": `<script>${IMPORT}
    let { store, drawn = () => {} } = $props();
    const status = useAgentSelector(({ status }) => status, undefined, store);
    $effect.pre(() => { void status.current; drawn(); });
  </script>{status.current}`,

  "Count.svelte": `<script>${IMPORT}
    let { store, seen } = $props();
    const part = useAgentSelector(
      ({ messages }) => ({ count: messages.length }),
      (left, right) => left.count === right.count,
      store,
    );
    $effect.pre(() => { seen(part.current); });
  </script>{part.current.count}`,

  "Both.svelte": `<script>
    import LastText from "LastText.svelte";
    import Status from "Status.svelte";
    let { store } = $props();
  </script><LastText {store} /><Status {store} />`,

  "Keeper.svelte": `<script>${IMPORT}
    let { store, keep } = $props();
    const agent = useAgent(store);
    keep(agent);
  </script>{agent.messages.length}`,

  "Hint.svelte": `<script>${IMPORT}
    let { hint, components, accept, fallback } = $props();
  </script><RenderHint {hint} {components} {accept} {fallback} />`,

  "Chart.svelte": `<script>let { symbol } = $props();</script><b>{symbol}</b>`,

  "Fallback.svelte": `<script>let { hint } = $props();</script>no {hint.component}`,

  "Careless.svelte": `<script>let { ...given } = $props();</script><p {...given}></p>`,

  "Everything.svelte": `<script>${IMPORT}
    let { store } = $props();
    const agent = useAgent(store);
  </script>{JSON.stringify({ messages: agent.messages, state: agent.state, interrupts: agent.interrupts, status: agent.status })}`,

  "Dollar.svelte": `<script>${IMPORT}
    let { store } = $props();
    const agent = agentReadable(store);
  </script>{$agent.status}`,
};

/** A module that exports all of them. */
export const ENTRY = [
  'export * from "./index.js";',
  'export { mount, unmount, flushSync } from "svelte";',
  ...Object.keys(COMPONENTS).map(
    (name) => `export { default as ${name.replace(".svelte", "")} } from "${name}";`,
  ),
].join("\n");
