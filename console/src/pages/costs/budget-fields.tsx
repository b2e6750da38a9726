import { useId } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { Field } from '../../kit/field.tsx'
import { useMe } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { ActionFields } from './action-fields.tsx'
import type { BudgetDraft, FieldsProps } from './budget-draft.ts'
import { budgetUnits } from '../../session/budget-words.ts'
import { Choice } from '../../kit/choice.tsx'
import { MatchFields } from './match-fields.tsx'
import styles from './budgets.module.css'

const text = words.budgets
const periods = ['day', 'week', 'month', 'once'] as const
const pers = ['all', 'project', 'key', 'user'] as const

/** The fields of a new budget, and of one that is edited. */
export function BudgetFields({ draft, error, onChange }: FieldsProps) {
  const set = (changed: Partial<BudgetDraft>): void => onChange({ ...draft, ...changed })
  return (
    <>
      <Field label={text.name} error={errorOfField(error, 'name')}>
        {(props) => (
          <input
            {...props}
            value={draft.name}
            required
            autoComplete="off"
            onChange={(event) => set({ name: event.target.value })}
          />
        )}
      </Field>
      <div className={styles.row}>
        <Field label={text.amount} error={amountError(error)}>
          {(props) => (
            <input
              {...props}
              inputMode="decimal"
              value={draft.amount}
              required
              autoComplete="off"
              onChange={(event) => set({ amount: event.target.value })}
            />
          )}
        </Field>
        <Choice
          label={text.unit}
          options={budgetUnits}
          nameOf={(unit) => text.units[unit]}
          value={draft.unit}
          onChange={(unit) => set({ unit })}
        />
        <Choice
          label={text.every}
          options={periods}
          nameOf={(period) => text.periods[period]}
          value={draft.period}
          error={errorOfField(error, 'period')}
          onChange={(period) => set({ period })}
        />
      </div>
      <Per draft={draft} error={error} onChange={onChange} />
      <ActionFields draft={draft} error={error} onChange={onChange} />
      <MatchFields draft={draft} error={error} onChange={onChange} />
      <div className={styles.row}>
        <TimeZone value={draft.timeZone} error={error} onChange={(timeZone) => set({ timeZone })} />
        <Field label={text.warnAt} hint={text.warnAtHint} error={errorOfField(error, 'warn_at')}>
          {(props) => (
            <input
              {...props}
              value={draft.warnAt}
              autoComplete="off"
              onChange={(event) => set({ warnAt: event.target.value })}
            />
          )}
        </Field>
      </div>
    </>
  )
}

const amountError = (error: unknown): string | undefined =>
  errorOfField(error, 'amount_usd') ?? errorOfField(error, 'tokens') ?? errorOfField(error, 'requests')

/** Who has an amount of their own. Tags are those that the configuration names. */
function Per({ draft, error, onChange }: FieldsProps) {
  const { per } = draft
  const { tags } = useMe()
  const known = [...pers, ...tags.map((name) => `tag:${name}`)]
  const options = known.includes(per) ? known : [...known, per]
  const kind = pers.find((each) => each === per)
  return (
    <Choice
      label={text.per}
      options={options}
      nameOf={nameOfPer}
      value={per}
      hint={text.perHint[kind ?? 'tag']}
      error={errorOfField(error, 'per')}
      onChange={(chosen) => onChange({ ...draft, per: chosen })}
    />
  )
}

function nameOfPer(per: string): string {
  const kind = pers.find((each) => each === per)
  return kind === undefined ? text.whoTag(per.slice('tag:'.length)) : text.pers[kind]
}

type ZoneProps = { readonly value: string; readonly error: unknown; readonly onChange: (zone: string) => void }

function TimeZone({ value, error, onChange }: ZoneProps) {
  const listId = useId()
  return (
    <Field label={text.timeZone} hint={text.zoneHint} error={errorOfField(error, 'time_zone')}>
      {(props) => (
        <>
          <input
            {...props}
            list={listId}
            value={value}
            required
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange(event.target.value)}
          />
          <datalist id={listId}>
            {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}
