import { filterFields, type FilterField, type MinimumName } from './search.ts'

/** What people write before the colon. */
const shortNames: Readonly<Record<string, FilterField | MinimumName>> = {
  policy: 'policy_id',
  user: 'user_id',
  key: 'api_key_id',
  project: 'project_id',
  reason: 'reason_code',
  min_ms: 'min_ms',
  ms: 'min_ms',
  min_cost_usd: 'min_cost_usd',
  cost: 'min_cost_usd',
}

/** The names that are offered while somebody types. */
export const typedNames = [
  'status',
  'decision',
  'policy',
  'model',
  'user',
  'key',
  'project',
  'reason',
  'error',
  'category',
]

/** `-status:denied` is a field, *is not*, and a value. Text without a colon is searched for. */
export type TypedFilter = {
  readonly field: FilterField | MinimumName
  readonly isNot: boolean
  readonly value: string
}

export type ReadText = {
  readonly filters: readonly TypedFilter[]
  /** What is left: free text. */
  readonly text: string
  /** A name before a colon that is no filter. */
  readonly unknownName?: string
}

const token = /([-!]?)([a-z_]+)\s*[:=]\s*(?:"([^"]*)"|(\S+))|"([^"]*)"|(\S+)/gi
/** One filter whose value has spaces and no quotes, such as `policy:No code names`. */
const single = /^\s*([-!]?)([a-z_]+)\s*[:=]\s*([^":=]+?)\s*$/i

const fieldOf = (name: string): FilterField | MinimumName | undefined => {
  const word = name.toLowerCase()
  return (
    filterFields.find((field) => field === word) ?? (Object.hasOwn(shortNames, word) ? shortNames[word] : undefined)
  )
}

/** Reads filters such as `user:ben-1002 policy:"No code names" -status:denied model:gpt*`. */
export function readFilterText(typed: string): ReadText {
  const [, sign, name = '', value] = single.exec(typed) ?? []
  const field = fieldOf(name)
  if (field !== undefined && value !== undefined) return { filters: [{ field, isNot: sign !== '', value }], text: '' }
  const filters: TypedFilter[] = []
  const text: string[] = []
  for (const [whole, minus, word, quoted, plain, phrase, loose] of typed.matchAll(token)) {
    if (word === undefined) {
      text.push(phrase ?? loose ?? whole)
      continue
    }
    const known = fieldOf(word)
    if (known === undefined) return { filters, text: text.join(' '), unknownName: word }
    filters.push({ field: known, isNot: minus !== '', value: quoted ?? plain ?? '' })
  }
  return { filters, text: text.join(' ') }
}

/** A value of the API and its name. */
export type FilterOption = { readonly value: string; readonly name: string }

export type Resolved =
  | { readonly value: string }
  /** The names that are closest to what was typed. */
  | { readonly near: readonly FilterOption[] }

/** The value that somebody means by a name. `isOpen`: values that are not listed exist as well. */
export function resolveValue(typed: string, options: readonly FilterOption[], isOpen: boolean): Resolved {
  const folded = fold(typed)
  const exact = options.find(({ value }) => value === typed) ?? options.find(({ name }) => fold(name) === folded)
  if (exact) return { value: exact.value }
  if (isOpen) return { value: typed }
  const [only, ...others] = options.filter(({ name }) => fold(name).includes(folded))
  if (only && others.length === 0) return { value: only.value }
  return { near: nearest(folded, options) }
}

const maxNear = 3

function nearest(folded: string, options: readonly FilterOption[]): readonly FilterOption[] {
  const scored = options.map((option) => {
    const name = fold(option.name)
    return { option, distance: name.includes(folded) ? 0 : editDistance(folded, name.slice(0, folded.length)) }
  })
  return scored
    .filter(({ distance }) => distance <= Math.max(1, folded.length / 3))
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, maxNear)
    .map(({ option }) => option)
}

const fold = (text: string): string => text.trim().normalize('NFKC').toLowerCase()

/** How many letters must be changed, added or removed. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (let column = 0; column < other.length; column++) {
      const replaced = (row[column] ?? 0) + (letter === other[column] ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
