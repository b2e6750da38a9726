import { searchText } from '../../session/search-text.ts'

export const policyStates = ['enforcing', 'monitoring', 'draft', 'paused'] as const
export const policyScopes = ['organization', 'projects', 'unattached'] as const

/** The filters of the list, by their names in the API. */
export type PoliciesSearch = {
  readonly search?: string | undefined
  readonly state?: (typeof policyStates)[number] | undefined
  readonly scope?: (typeof policyScopes)[number] | undefined
}

/** `create`: the dialog for a new policy is open, and starts from `blank`, a template or a request. */
export type PoliciesPageSearch = PoliciesSearch & { readonly create?: string | undefined }

export function readPoliciesSearch(search: Record<string, unknown>): PoliciesPageSearch {
  return {
    search: searchText(search['search']),
    state: policyStates.find((state) => state === search['state']),
    scope: policyScopes.find((scope) => scope === search['scope']),
    create: searchText(search['create']),
  }
}

/** The backtest that is open, and the threshold that the slider is at. Without them, the newest one and its own. */
export type ReplaySearch = { readonly backtest?: string | undefined; readonly threshold?: number | undefined }

export function readReplaySearch({ backtest, threshold }: Record<string, unknown>): ReplaySearch {
  return {
    backtest: searchText(backtest),
    threshold: typeof threshold === 'number' ? threshold : undefined,
  }
}

/** The two versions that the history compares. Without them, the newest two. */
export type HistorySearch = { readonly before?: number | undefined; readonly after?: number | undefined }

export function readHistorySearch({ before, after }: Record<string, unknown>): HistorySearch {
  const version = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
  return { before: version(before), after: version(after) }
}
