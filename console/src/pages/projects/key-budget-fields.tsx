import { useEffect, useRef, useState } from 'react'
import { Choice } from '../../kit/choice.tsx'
import { Field } from '../../kit/field.tsx'
import { numberIn } from '../../kit/number-in.ts'
import { budgetUnits, inUnit } from '../../session/budget-words.ts'
import { words } from '../../words/en.ts'
import { amountProblem, hasBudget, type KeyBudgetDraft } from './key-budget.ts'
import styles from './key-fields.module.css'

const text = words.projects.budget
const budgetText = words.budgets
const periods = ['day', 'week', 'month', 'once'] as const
const actions = ['deny', 'warn'] as const

type FieldsProps = {
  readonly draft: KeyBudgetDraft
  readonly onChange: (draft: KeyBudgetDraft) => void
  /** What is wrong with the amount. */
  readonly error: string | undefined
  /** How often the form was sent. After that with an error, its field has the focus, because it may be out of sight. */
  readonly attempts: number
}

/** The budget of a new key, folded away at first. */
export function KeyBudgetFields({ draft, onChange, error, attempts }: FieldsProps) {
  const [isOpen, setOpen] = useState(false)
  const amount = useRef<HTMLInputElement>(null)
  const isWrong = useRef(false)
  isWrong.current = error !== undefined
  useEffect(() => {
    if (attempts > 0 && isWrong.current) setOpen(true)
  }, [attempts])
  useEffect(() => {
    if (attempts > 0 && isOpen && isWrong.current) amount.current?.focus()
  }, [attempts, isOpen])
  const set = (changed: Partial<KeyBudgetDraft>): void => onChange({ ...draft, ...changed })
  return (
    <details className={styles.budget} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{isOpen ? text.title : summaryOf(draft)}</summary>
      {isOpen && (
        <div>
          <p>{text.hint}</p>
          <div className={styles.row}>
            <Field label={budgetText.amount} hint={text.amountHint} error={error}>
              {(props) => (
                <input
                  {...props}
                  ref={amount}
                  inputMode="decimal"
                  value={draft.amount}
                  autoComplete="off"
                  onChange={(event) => set({ amount: event.target.value })}
                />
              )}
            </Field>
            <Choice
              label={budgetText.unit}
              options={budgetUnits}
              nameOf={(unit) => budgetText.units[unit]}
              value={draft.unit}
              onChange={(unit) => set({ unit })}
            />
            <Choice
              label={budgetText.every}
              hint={draft.period === 'once' ? '' : text.periodHint}
              options={periods}
              nameOf={(period) => budgetText.periods[period]}
              value={draft.period}
              onChange={(period) => set({ period })}
            />
          </div>
          <Choice
            label={budgetText.over}
            options={actions}
            nameOf={(action) => budgetText.overs[action]}
            value={draft.action}
            onChange={(action) => set({ action })}
          />
        </div>
      )}
    </details>
  )
}

/** A budget that is folded away is still created. */
function summaryOf(draft: KeyBudgetDraft): string {
  if (!hasBudget(draft) || amountProblem(draft) !== undefined) return text.title
  return text.titleOf(budgetText.inPeriod(inUnit(draft.unit, numberIn(draft.amount)), draft.period))
}
