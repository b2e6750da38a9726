/** The fields that requests are filtered by, by their names in the API. Each has one of some values, or none of them. */
export const filterFields = [
  'status',
  'decision',
  'policy_id',
  'model',
  'user_id',
  'api_key_id',
  'project_id',
  'reason_code',
  'error',
  'category',
] as const

export type FilterField = (typeof filterFields)[number]

const minimums = ['min_ms', 'min_cost_usd'] as const
export type MinimumName = (typeof minimums)[number]

type FieldKey = FilterField | `not_${FilterField}`

const keyOf = ({ field, isNot }: Pick<Filter, 'field' | 'isNot'>): FieldKey => (isNot ? `not_${field}` : field)

/** A field that has one of these values, or none of them. */
export type Filter = { readonly field: FilterField; readonly isNot: boolean; readonly values: readonly string[] }

/** What the address of the page holds beside the time range: the filters, the searched text and the chosen columns. */
export type RequestSearch = {
  readonly [Key in FieldKey]?: string | number | readonly (string | number)[] | undefined
} & { readonly [Name in MinimumName]?: number | undefined } & {
  readonly q?: string | number | undefined
  readonly columns?: string | number | undefined
}

const isText = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

const isTexts = (value: unknown): value is readonly (string | number)[] =>
  Array.isArray(value) && value.length > 0 && value.every(isText)

const fieldKeys: readonly FieldKey[] = filterFields.flatMap((field) => [field, `not_${field}` as const])

export function readRequestSearch(search: Record<string, unknown>): RequestSearch {
  const kept = (names: readonly string[], isValid: (value: unknown) => boolean) =>
    names.flatMap((name) => (isValid(search[name]) ? [[name, search[name]] as const] : []))
  return Object.fromEntries([
    ...kept(fieldKeys, (value) => isText(value) || isTexts(value)),
    ...kept(['q', 'columns'], isText),
    ...kept(minimums, (value) => typeof value === 'number' && value >= 0),
  ])
}

/** Chosen fields in the order of the list of fields. */
export const filtersIn = (search: RequestSearch): readonly Filter[] =>
  filterFields.flatMap((field) =>
    [false, true].flatMap((isNot) => {
      const values = search[keyOf({ field, isNot })]
      return values === undefined ? [] : [{ field, isNot, values: [values].flat().map(String) }]
    }),
  )

export const minimumsIn = (search: RequestSearch): readonly (readonly [MinimumName, number])[] =>
  minimums.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]] as const]))

/** The filters as parameters of the API. */
export type RequestFilters = Readonly<Record<string, readonly string[] | string | number>>

export const filtersOf = (search: RequestSearch): RequestFilters =>
  Object.fromEntries([
    ...filtersIn(search).map((filter) => [keyOf(filter), filter.values] as const),
    ...minimumsIn(search),
    ...(search.q === undefined ? [] : [['q', String(search.q)] as const]),
  ])

/** The change of the address that sets a filter. Without values, it removes the filter. */
export const withFilter = ({ values, ...filter }: Filter): RequestSearch => ({
  [keyOf(filter)]: values.length === 0 ? undefined : values.length === 1 ? values[0] : values,
})

const valuesIn = (search: RequestSearch, field: FilterField, isNot: boolean): readonly string[] =>
  filtersIn(search).find((each) => each.field === field && each.isNot === isNot)?.values ?? []

/** The change of the address that adds a value to a filter. A value cannot be wanted and excluded at once. */
export function addingValue(search: RequestSearch, { field, isNot, value }: FieldValue): RequestSearch {
  const values = [...new Set([...valuesIn(search, field, isNot), value])]
  const others = valuesIn(search, field, !isNot).filter((each) => each !== value)
  return { ...withFilter({ field, isNot, values }), ...withFilter({ field, isNot: !isNot, values: others }) }
}

export type FieldValue = { readonly field: FilterField; readonly isNot: boolean; readonly value: string }

/** The change of the address that turns *is* into *is not*, or back. */
export const switching = (search: RequestSearch, { field, isNot, values }: Filter): RequestSearch => ({
  ...withFilter({ field, isNot, values: [] }),
  ...withFilter({ field, isNot: !isNot, values: [...new Set([...valuesIn(search, field, !isNot), ...values])] }),
})
