import { useState } from 'react'
import type { Names } from '../../api/names.ts'
import { errorOfField } from '../../api/use-change.ts'
import { Field } from '../../kit/field.tsx'
import { useMe } from '../../session/session.tsx'
import { useSubjectNames } from '../../session/subject-names.ts'
import { words } from '../../words/en.ts'
import type { FieldsProps } from './budget-draft.ts'
import styles from './budgets.module.css'

const text = words.budgets

/** The conditions of a budget. They are folded away while there are none. */
export function MatchFields({ draft, error, onChange }: FieldsProps) {
  const { projects, keys } = useSubjectNames()
  const { tags: tagNames } = useMe()
  const { projectIds, keyIds, models, users, tags } = draft
  const [hadConditions] = useState(projectIds.length + keyIds.length > 0 || models + users + tags !== '')
  const problem = errorOfField(error, 'match')
  return (
    <details className={styles.only} open={hadConditions || problem !== undefined}>
      <summary>{text.only}</summary>
      <div>
        <p>{text.onlyHint}</p>
        <Boxes
          label={text.projects}
          names={projects}
          chosen={projectIds}
          error={errorOfField(error, 'match.project_ids')}
          onChange={(ids) => onChange({ ...draft, projectIds: ids })}
        />
        <Boxes
          label={text.keys}
          names={keys}
          chosen={keyIds}
          error={errorOfField(error, 'match.api_key_ids')}
          onChange={(ids) => onChange({ ...draft, keyIds: ids })}
        />
        <Lines
          label={text.models}
          hint={text.modelsHint}
          value={models}
          error={errorOfField(error, 'match.models')}
          onChange={(typed) => onChange({ ...draft, models: typed })}
        />
        <Lines
          label={text.users}
          hint={text.usersHint}
          value={users}
          error={errorOfField(error, 'match.users')}
          onChange={(typed) => onChange({ ...draft, users: typed })}
        />
        <Lines
          label={text.tags}
          hint={text.tagsHint(tagNames)}
          value={tags}
          error={errorOfField(error, 'match.tags')}
          onChange={(typed) => onChange({ ...draft, tags: typed })}
        />
      </div>
    </details>
  )
}

type LinesProps = {
  readonly label: string
  readonly hint: string
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (typed: string) => void
}

const Lines = ({ label, hint, value, error, onChange }: LinesProps) => (
  <Field label={label} hint={hint} error={error}>
    {(props) => (
      <textarea
        {...props}
        className={`${props.className ?? ''} ${styles.lines}`}
        rows={2}
        value={value}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
)

type BoxesProps = {
  readonly label: string
  readonly names: Names
  readonly chosen: readonly string[]
  readonly error: string | undefined
  readonly onChange: (ids: readonly string[]) => void
}

/** Projects or keys. One that is chosen and not among the names is shown with its id. */
function Boxes({ label, names, chosen, error, onChange }: BoxesProps) {
  const [atFirst] = useState(chosen)
  const ids = [...new Set([...names.keys(), ...atFirst])]
  if (ids.length === 0) return null
  return (
    <fieldset className={styles.boxes}>
      <legend>{label}</legend>
      <div>
        {ids.map((id) => (
          <label key={id} title={id}>
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ target }) =>
                onChange(target.checked ? [...chosen, id] : chosen.filter((each) => each !== id))
              }
            />
            <span>{names.get(id) ?? id}</span>
          </label>
        ))}
      </div>
      {error !== undefined && <small role="alert">{error}</small>}
    </fieldset>
  )
}
