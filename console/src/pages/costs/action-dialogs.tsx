import { useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { words } from '../../words/en.ts'
import { numberIn } from '../../kit/number-in.ts'
import { amountOf } from '../../session/budget-words.ts'
import { budgetsPath, useDeleteBudget, useUpdateBudget, type Budget } from './queries.ts'

const text = words.budgets

type DialogProps = { readonly budget: Budget; readonly onClose: () => void }

const pathOf = ({ id }: Budget): string => `${budgetsPath}/${id}`

export function PauseDialog({ action, budget, onClose }: DialogProps & { readonly action: 'pause' | 'resume' }) {
  const change = useUpdateBudget(budget, onClose)
  const body = { state: action === 'pause' ? 'paused' : 'active' } as const
  return (
    <FormDialog
      title={text.verbOf(text[action], budget.name)}
      action={text[action]}
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <p>{action === 'pause' ? text.pauseText : text.resumeText}</p>
      <CommandPreview
        call={{
          method: 'PATCH',
          path: pathOf(budget),
          body: { revision: budget.revision, ...body },
          command: `gatehouse budgets ${action} ${budget.id}`,
        }}
      />
    </FormDialog>
  )
}

export function DeleteDialog({ budget, onClose, onDeleted }: DialogProps & { readonly onDeleted: () => void }) {
  const change = useDeleteBudget(budget.id, onDeleted)
  return (
    <FormDialog
      title={text.verbOf(text.remove, budget.name)}
      action={text.remove}
      look="danger"
      change={change}
      onClose={onClose}
      onSubmit={() => change.mutate(undefined)}
    >
      <p>{text.removeText}</p>
      <CommandPreview
        call={{ method: 'DELETE', path: pathOf(budget), command: `gatehouse budgets delete ${budget.id}` }}
      />
    </FormDialog>
  )
}

/** Raises the amount of the current period, or takes that back. A budget that never starts again needs an end of it. */
export function ExtraDialog({ budget, onClose }: DialogProps) {
  const change = useUpdateBudget(budget, onClose)
  const [amount, setAmount] = useState(budget.extra === null ? '' : String(budget.extra.amount))
  const [reason, setReason] = useState(budget.extra?.reason ?? '')
  const [lastDay, setLastDay] = useState('')
  const isOnce = budget.period === 'once'
  const extra = {
    amount: numberIn(amount),
    ...(isOnce && lastDay !== '' && { until: endOfDay(lastDay) }),
    reason: reason.trim(),
  }
  const isComplete = extra.amount > 0 && extra.reason !== '' && (!isOnce || lastDay !== '')
  return (
    <FormDialog
      title={text.verbOf(text.addExtra, budget.name)}
      action={text.addExtra}
      isDisabled={!isComplete}
      change={change}
      fields={isOnce ? ['extra'] : []}
      onClose={onClose}
      onSubmit={() => change.mutate({ extra })}
    >
      <p>{text.extraText}</p>
      {budget.extra !== null && (
        <Button disabled={change.isPending} onClick={() => change.mutate({ extra: null })}>
          {text.removeExtra}
        </Button>
      )}
      <Field
        label={text.extraAmount}
        hint={text.units[amountOf(budget).unit]}
        error={errorOfField(change.error, 'extra.amount')}
      >
        {(props) => (
          <input
            {...props}
            inputMode="decimal"
            value={amount}
            required
            autoComplete="off"
            onChange={(event) => setAmount(event.target.value)}
          />
        )}
      </Field>
      <Field label={text.extraReason} hint={text.extraReasonHint} error={errorOfField(change.error, 'extra.reason')}>
        {(props) => (
          <input
            {...props}
            value={reason}
            required
            maxLength={500}
            autoComplete="off"
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      {isOnce && (
        <Field label={text.extraUntil} hint={text.extraUntilHint} error={errorOfField(change.error, 'extra.until')}>
          {(props) => (
            <input
              {...props}
              type="date"
              value={lastDay}
              required
              onChange={(event) => setLastDay(event.target.value)}
            />
          )}
        </Field>
      )}
      <CommandPreview call={{ method: 'PATCH', path: pathOf(budget), body: { revision: budget.revision, extra } }} />
    </FormDialog>
  )
}

/** The end of a day of the browser's zone, in Unix seconds. */
function endOfDay(day: string): number {
  const date = new Date(`${day}T00:00`)
  date.setDate(date.getDate() + 1)
  return Math.floor(date.getTime() / 1_000)
}
