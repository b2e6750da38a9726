import { useState } from 'react'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { words } from '../../words/en.ts'
import { bodyOfDraft, draftOfBudget, isComplete, newBudgetDraft, type BudgetDraft } from './budget-draft.ts'
import { BudgetFields } from './budget-fields.tsx'
import { Plan } from './plan.tsx'
import { budgetsPath, useCreateBudget, useUpdateBudget, type Budget } from './queries.ts'

const text = words.budgets

/** Fields that show their error themselves. */
const fields = [
  'name',
  'amount_usd',
  'tokens',
  'requests',
  'period',
  'time_zone',
  'per',
  'match',
  'action',
  'warn_at',
] as const

type CreateProps = {
  /** The key that it is for, if it is for one. */
  readonly keyId: string | undefined
  readonly onClose: () => void
  readonly onCreated: (id: string) => void
}

export function CreateBudgetDialog({ keyId, onClose, onCreated }: CreateProps) {
  const [draft, setDraft] = useState<BudgetDraft>({ ...newBudgetDraft, keyIds: keyId === undefined ? [] : [keyId] })
  const change = useCreateBudget(({ id }) => onCreated(id))
  const body = bodyOfDraft(draft)
  return (
    <FormDialog
      title={text.create}
      action={text.create}
      isDisabled={!isComplete(draft)}
      change={change}
      fields={fields}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <BudgetFields draft={draft} error={change.error} onChange={setDraft} />
      <Plan draft={draft} />
      <CommandPreview call={{ method: 'POST', path: budgetsPath, body, command: text.listCommand }} />
    </FormDialog>
  )
}

export function EditBudgetDialog({ budget, onClose }: { readonly budget: Budget; readonly onClose: () => void }) {
  const [draft, setDraft] = useState(() => draftOfBudget(budget))
  // What somebody else changes meanwhile is a conflict, so the first revision counts.
  const [{ id, revision }] = useState(budget)
  const change = useUpdateBudget({ id, revision }, onClose)
  const body = bodyOfDraft(draft)
  return (
    <FormDialog
      title={text.verbOf(text.edit, budget.name)}
      action={text.save}
      isDisabled={!isComplete(draft)}
      change={change}
      fields={fields}
      onClose={onClose}
      onSubmit={() => change.mutate(body)}
    >
      <BudgetFields draft={draft} error={change.error} onChange={setDraft} />
      <Plan draft={draft} />
      <CommandPreview
        call={{
          method: 'PATCH',
          path: `${budgetsPath}/${id}`,
          body: { revision, ...body },
          command: `gatehouse budgets update ${id} -f budget.yaml`,
        }}
      />
    </FormDialog>
  )
}
