import { CommandPreview } from '../../kit/command-preview.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { words } from '../../words/en.ts'
import { useDeleteCase, type PolicyCase } from './queries.ts'

const text = words.policy.cases

export function DeleteCaseDialog({
  policyCase,
  onClose,
}: {
  readonly policyCase: PolicyCase
  readonly onClose: () => void
}) {
  const { id, policy_id: policyId, says } = policyCase
  const remove = useDeleteCase(policyId, onClose)
  return (
    <FormDialog
      title={text.removeTitle}
      action={text.remove}
      look="danger"
      change={remove}
      onSubmit={() => remove.mutate(id)}
      onClose={onClose}
    >
      <p>{text.removeText(says)}</p>
      <CommandPreview call={{ method: 'DELETE', path: `/v1/organization/policies/${policyId}/cases/${id}` }} />
    </FormDialog>
  )
}
