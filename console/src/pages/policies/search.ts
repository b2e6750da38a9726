export const policyStates = ['enforcing', 'monitoring', 'draft', 'paused'] as const
export const policyScopes = ['organization', 'projects', 'unattached'] as const

/** The filters of the list, by their names in the API. */
export type PoliciesSearch = {
  readonly search?: string | undefined
  readonly state?: (typeof policyStates)[number] | undefined
  readonly scope?: (typeof policyScopes)[number] | undefined
}

export function readPoliciesSearch(search: Record<string, unknown>): PoliciesSearch {
  const { search: name } = search
  return {
    search: typeof name === 'string' && name !== '' ? name : undefined,
    state: policyStates.find((state) => state === search['state']),
    scope: policyScopes.find((scope) => scope === search['scope']),
  }
}

/** The two versions that the history compares. Without them, the newest two. */
export type HistorySearch = { readonly before?: number | undefined; readonly after?: number | undefined }

export function readHistorySearch({ before, after }: Record<string, unknown>): HistorySearch {
  const version = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
  return { before: version(before), after: version(after) }
}
