import { useModelNames } from '../../api/names.ts'
import { errorOfField } from '../../api/use-change.ts'
import { words } from '../../words/en.ts'
import { actionKinds, type FieldsProps } from './budget-draft.ts'
import { Choice } from '../../kit/choice.tsx'
import styles from './budgets.module.css'

const text = words.budgets

/** What happens to requests over the amount, and the model that they continue with. */
export function ActionFields({ draft, error, onChange }: FieldsProps) {
  const names = useModelNames()
  const isSwitching = draft.action === 'use_model'
  const offered = [...new Set(names)]
  const models = draft.model === '' || !offered.includes(draft.model) ? [draft.model, ...offered] : offered
  const problem = errorOfField(error, 'action')
  return (
    <div className={styles.row}>
      <Choice
        label={text.over}
        options={actionKinds}
        nameOf={(action) => text.overs[action]}
        value={draft.action}
        error={isSwitching ? undefined : problem}
        onChange={(action) => onChange({ ...draft, action })}
      />
      {isSwitching && (
        <Choice
          label={text.model}
          options={models}
          nameOf={(model) => (model === '' ? text.chooseModel : model)}
          value={draft.model}
          error={problem}
          onChange={(model) => onChange({ ...draft, model })}
        />
      )}
    </div>
  )
}
