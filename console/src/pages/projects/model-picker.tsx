import { useId, useState } from 'react'
import { useModelOffers } from '../../api/names.ts'
import { Field } from '../../kit/field.tsx'
import { Button } from '../../kit/button.tsx'
import { words } from '../../words/en.ts'
import { listOf } from './key-draft.ts'
import styles from './key-fields.module.css'

const text = words.projects

/** More models than this have a field that filters them. */
const maxUnfiltered = 8

type PickerProps = {
  /** Names with commas between them. */
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (value: string) => void
}

/** The models that a key may use, out of the catalogue. Models that the key lists and nobody offers stay until they are removed. */
export function ModelPicker({ value, error, onChange }: PickerProps) {
  const { names, prefixes } = useModelOffers()
  const [search, setSearch] = useState('')
  const hintId = useId()
  const chosen = listOf(value)
  // A name that is removed stays in the list, so that it can be chosen again.
  const [atFirst] = useState(chosen)
  const all = [...new Set([...names, ...atFirst, ...chosen])]
  const found = all.filter((name) => name.toLowerCase().includes(search.trim().toLowerCase()))
  const typed = search.trim()
  const isNew = typed !== '' && !all.includes(typed) && prefixes.some((prefix) => typed.startsWith(prefix))
  const toggle = (name: string, isOn: boolean): void =>
    onChange((isOn ? [...chosen, name] : chosen.filter((each) => each !== name)).join(', '))
  const isFiltered = all.length > maxUnfiltered || prefixes.length > 0
  return (
    <fieldset className={styles.permissions} aria-describedby={hintId}>
      <legend>{text.models}</legend>
      {isFiltered && (
        <Field label={text.searchModels}>
          {(props) => (
            <input
              {...props}
              value={search}
              spellCheck={false}
              onChange={({ target }) => setSearch(target.value)}
              // Enter would submit the form.
              onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
            />
          )}
        </Field>
      )}
      <div className={styles.models}>
        {found.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={({ target }) => toggle(name, target.checked)}
            />
            <span>
              {name}
              {!isOffered(name, { names, prefixes }) && <small>{text.notOffered}</small>}
            </span>
          </label>
        ))}
        {isNew && (
          <Button
            isSmall
            icon="plus"
            onClick={() => {
              toggle(typed, true)
              setSearch('')
            }}
          >
            {text.addModel(typed)}
          </Button>
        )}
      </div>
      <small id={hintId} role={error === undefined ? undefined : 'alert'}>
        {error ?? (chosen.length === 0 ? text.modelsHint : text.chosenModels(chosen.length))}
      </small>
    </fieldset>
  )
}

/** Before the catalogue has arrived nothing is known to be missing. */
const isOffered = (name: string, { names, prefixes }: ReturnType<typeof useModelOffers>): boolean =>
  names.length + prefixes.length === 0 || names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix))
