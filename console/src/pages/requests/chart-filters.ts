import { words } from '../../words/en.ts'
import { filtersIn, minimumsIn, type Filter, type RequestSearch } from './search.ts'

/** The fields that the sums behind the chart have. */
const chartFields: ReadonlySet<string> = new Set(['status', 'decision', 'model', 'project_id'])

/** The sums have whole names of models only. */
const isCharted = ({ field, values }: Filter): boolean =>
  chartFields.has(field) && !values.some((value) => field === 'model' && value.endsWith('*'))

/** The filters that the chart can apply, as parameters of the API. */
export const chartFilters = (search: RequestSearch): Record<string, readonly string[]> =>
  Object.fromEntries(
    filtersIn(search)
      .filter(isCharted)
      .map(({ field, isNot, values }) => [isNot ? `not_${field}` : field, values]),
  )

/** The names of the filters that it cannot apply. */
export const unchartedFields = (search: RequestSearch): readonly string[] => [
  ...(search.q === undefined ? [] : [words.requests.search]),
  ...filtersIn(search)
    .filter((filter) => !isCharted(filter))
    .map(({ field }) => words.requests.filters[field]),
  ...minimumsIn(search).map(([name]) => words.requests.filters[name]),
]
