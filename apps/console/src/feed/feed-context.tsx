import { createContext, useContext, useEffect, useState, useSyncExternalStore } from "react";
import type { ReactNode } from "react";
import { FeedStore } from "./feed-store.js";
import type { FeedView } from "./feed-store.js";
import { followFeed } from "./follow-feed.js";

const FeedContext = createContext<FeedStore | undefined>(undefined);

/** One feed connection for all pages, open while the operator is signed in. */
export function FeedProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [store] = useState(() => new FeedStore());
  useEffect(() => {
    const gone = new AbortController();
    void followFeed(store, gone.signal);
    return () => gone.abort();
  }, [store]);
  return <FeedContext value={store}>{children}</FeedContext>;
}

/** The feed itself. */
export function useFeedStore(): FeedStore {
  const store = useContext(FeedContext);
  if (store === undefined) throw new TypeError("a feed is read inside FeedProvider");
  return store;
}

/** The current view of the feed. */
export function useFeed(): FeedView {
  const store = useFeedStore();
  return useSyncExternalStore(store.subscribe, store.view);
}
