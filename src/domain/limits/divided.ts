import { shareOf } from './scopes.ts'
import type { LimitStore } from './store.ts'

/** Counters of one node among several that cannot count together: it admits its share of each limit. */
export const createDividedStore = (store: LimitStore, nodes: () => number): LimitStore => ({
  ...store,
  admit: (request) => store.admit({ ...request, limits: shareOf(request.limits, nodes()) }),
})
