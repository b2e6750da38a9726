import { useState, type SubmitEvent } from 'react'
import { words } from '../../words/en.ts'
import { readFilterText, resolveValue, typedNames, type FilterOption, type TypedFilter } from './filter-text.ts'
import { addingValue, type FieldValue, type RequestSearch } from './search.ts'
import { openFields, type FilterOptions } from './use-filter-options.ts'
import styles from './filter-bar.module.css'

const text = words.requests

type InputProps = {
  readonly search: RequestSearch
  readonly options: FilterOptions
  readonly onChange: (changed: RequestSearch) => void
}

type Problem = { readonly message: string; readonly near?: readonly (FieldValue & { readonly name: string })[] }

/** Adds filters such as `user:ben -status:denied`; other text is searched for. */
export function FilterInput({ search, options, onChange }: InputProps) {
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<Problem>()
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const change = changeOf(typed, search, options)
    setProblem('message' in change ? change : undefined)
    if ('message' in change) return
    setTyped('')
    onChange(change.search)
  }
  const choose = (filter: FieldValue): void => {
    setProblem(undefined)
    setTyped('')
    onChange(addingValue(search, filter))
  }
  return (
    <form className={styles.typed} onSubmit={submit}>
      <input
        aria-label={text.typeFilter}
        aria-invalid={problem !== undefined}
        placeholder={text.typeFilter}
        list="request-filters"
        value={typed}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setTyped(event.target.value)}
      />
      <datalist id="request-filters">
        {typedNames.map((name) => (
          <option key={name} value={`${name}:`} />
        ))}
      </datalist>
      {problem !== undefined && (
        <div role="alert" className={styles.problem}>
          {problem.message}
          {problem.near !== undefined && problem.near.length > 0 && (
            <p>
              {text.near}{' '}
              {problem.near.map((each) => (
                <button key={each.value} type="button" onClick={() => choose(each)}>
                  {each.name}
                </button>
              ))}
            </p>
          )}
        </div>
      )}
    </form>
  )
}

/** The change of the address that the text means, or why it cannot be applied. */
function changeOf(typed: string, search: RequestSearch, options: FilterOptions): { search: RequestSearch } | Problem {
  const read = readFilterText(typed)
  if (read.unknownName !== undefined) return { message: text.noFilter(read.unknownName, typedNames.join(', ')) }
  let next = search
  for (const filter of read.filters) {
    const change = changeOfFilter(filter, next, options)
    if ('message' in change) return change
    next = { ...next, ...change }
  }
  return { search: { ...next, ...(read.text !== '' && { q: read.text }) } }
}

function changeOfFilter(filter: TypedFilter, search: RequestSearch, options: FilterOptions): RequestSearch | Problem {
  const { field, isNot, value } = filter
  if (field === 'min_ms' || field === 'min_cost_usd') {
    const number = Number(value)
    return Number.isFinite(number) && number >= 0 ? { [field]: number } : { message: text.numberProblem(field) }
  }
  const resolved = resolveValue(value, options[field], openFields.has(field))
  if ('value' in resolved) return addingValue(search, { field, isNot, value: resolved.value })
  const near = resolved.near.map((option: FilterOption) => ({ field, isNot, ...option }))
  return { message: text.noValue(text.filters[field], value), near }
}
