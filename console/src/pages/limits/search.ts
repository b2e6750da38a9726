import { searchText } from '../../session/search-text.ts'

const views = ['spending', 'limits', 'ledger'] as const
export type LimitsView = (typeof views)[number]

/** What use is grouped by, by its names in the API. */
export const useGroups = ['project', 'api_key', 'model', 'user'] as const
export type UseGroup = (typeof useGroups)[number]

export const ledgerKinds = ['grant', 'payment', 'correction', 'usage'] as const
export type LedgerKind = (typeof ledgerKinds)[number]

/** What the address of the page holds beside the time range. */
export type LimitsSearch = {
  readonly view?: LimitsView | undefined
  readonly by?: UseGroup | undefined
  readonly kind?: LedgerKind | undefined
  readonly project_id?: string | undefined
  readonly api_key_id?: string | undefined
  readonly request_id?: string | undefined
}

export const readLimitsSearch = (search: Record<string, unknown>): LimitsSearch => ({
  view: views.find((view) => view === search['view']),
  by: useGroups.find((group) => group === search['by']),
  kind: ledgerKinds.find((kind) => kind === search['kind']),
  project_id: searchText(search['project_id']),
  api_key_id: searchText(search['api_key_id']),
  request_id: searchText(search['request_id']),
})
