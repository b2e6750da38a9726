import { useState, type SubmitEvent } from 'react'
import { words } from '../../words/en.ts'
import { filterNames, type FilterName } from './search.ts'
import styles from './filter-bar.module.css'

const text = words.requests
/** Filters whose value is typed. The others are chosen from a menu. */
const typed = filterNames.filter((name) => name !== 'decision' && name !== 'status')

type InputProps = { readonly onFilter: (name: FilterName, value: string | number) => void }

/** Adds any filter by `name:value`, such as `model:gpt-5` or `min_ms:2000`. */
export function FilterInput({ onFilter }: InputProps) {
  const [value, setValue] = useState('')
  const [problem, setProblem] = useState<string>()
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const [, name, wanted] = /^\s*(\w+)\s*[:=]\s*(.+?)\s*$/.exec(value) ?? []
    const filter = typed.find((each) => each === name)
    if (filter === undefined || wanted === undefined) {
      setProblem(text.filterProblem(typed.join(', ')))
      return
    }
    const isNumber = filter === 'min_ms' || filter === 'min_cost_usd'
    if (isNumber && !Number.isFinite(Number(wanted))) {
      setProblem(text.numberProblem(filter))
      return
    }
    setProblem(undefined)
    setValue('')
    onFilter(filter, isNumber ? Number(wanted) : wanted)
  }
  return (
    <form className={styles.typed} onSubmit={submit}>
      <input
        aria-label={text.typeFilter}
        aria-invalid={problem !== undefined}
        placeholder={text.typeFilter}
        list="request-filters"
        value={value}
        spellCheck={false}
        onChange={(event) => setValue(event.target.value)}
      />
      <datalist id="request-filters">
        {typed.map((name) => (
          <option key={name} value={`${name}:`} />
        ))}
      </datalist>
      {problem !== undefined && (
        <span role="alert" className={styles.problem}>
          {problem}
        </span>
      )}
    </form>
  )
}
