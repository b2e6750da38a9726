import { createContext, use, useState } from 'react'
import { formOf, isSame, type PolicyForm } from './content.ts'
import type { Policy } from './queries.ts'

export type Draft = {
  readonly policy: Policy
  /** What the changes of the form are made against. */
  readonly base: Policy
  readonly form: PolicyForm
  readonly isChanged: boolean
  /** Whether somebody else changed the content while the form had unsaved changes. */
  readonly hasConflict: boolean
  readonly set: (changed: Partial<PolicyForm>) => void
  /** Continues from what a save stored. Changes made since the save began stay in the form. */
  readonly adopt: (saved: Policy, sent: PolicyForm) => void
  /** Drops the changes of the form, and shows what is stored. */
  readonly takeStored: () => void
  /** Keeps the form. Saving it replaces what somebody else stored. */
  readonly keepForm: () => void
}

/** The form of a policy over what is stored. It survives a change of the tab, and follows the server while it is unchanged. */
export function useDraft(policy: Policy): Draft {
  const [base, setBase] = useState(policy)
  const [form, setForm] = useState(() => formOf(policy))
  const isChanged = !isSame(form, formOf(base))
  const isNewer = policy.revision > base.revision
  const takeStored = (): void => {
    setBase(policy)
    setForm(formOf(policy))
  }
  const keepForm = (): void => setBase(policy)
  const adopt: Draft['adopt'] = (saved, sent) => {
    setBase(saved)
    setForm((current) => (isSame(current, sent) ? formOf(saved) : current))
  }
  // A form that equals what is now stored was saved; one without changes has nothing to lose.
  if (isNewer && (!isChanged || isSame(form, formOf(policy)))) takeStored()
  else if (isNewer && isSame(formOf(policy), formOf(base))) keepForm()
  return {
    policy,
    base,
    form,
    isChanged,
    hasConflict: isNewer && isChanged && !isSame(formOf(policy), formOf(base)),
    set: (changed) => setForm((before) => ({ ...before, ...changed })),
    adopt,
    takeStored,
    keepForm,
  }
}

export const DraftContext = createContext<Draft | null>(null)

/** The draft of the open policy. Only for its tabs. */
export function usePolicyDraft(): Draft {
  const draft = use(DraftContext)
  if (draft === null) throw new Error('usePolicyDraft is used outside of the page of a policy')
  return draft
}
