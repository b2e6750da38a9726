/** The filters of the page, by their names in the API. */
export const filterNames = [
  'decision',
  'status',
  'model',
  'project_id',
  'policy_id',
  'api_key_id',
  'user_id',
  'reason_code',
  'category',
  'min_ms',
  'min_cost_usd',
] as const

export type FilterName = (typeof filterNames)[number]

export type RequestFilters = { readonly [Name in FilterName]?: string | number | undefined }

/** What the address of the page holds beside the time range: the filters and the chosen columns. */
export type RequestSearch = RequestFilters & { readonly columns?: string | undefined }

export function readRequestSearch(search: Record<string, unknown>): RequestSearch {
  return Object.fromEntries(
    [...filterNames, 'columns'].flatMap((name) => {
      const value = search[name]
      return typeof value === 'string' || typeof value === 'number' ? [[name, value]] : []
    }),
  )
}

export const filtersOf = (search: RequestSearch): RequestFilters =>
  Object.fromEntries(filterNames.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])))
