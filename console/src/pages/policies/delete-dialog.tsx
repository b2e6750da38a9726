import { useState } from 'react'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Field } from '../../kit/field.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { Affected } from './action-dialog.tsx'
import { useDeletePolicy, type Policy } from './queries.ts'

const text = words.policy.dialogs.remove

type DialogProps = { readonly policy: Policy; readonly onClose: () => void; readonly onDone: () => void }

/** Deleting cannot be undone, so it asks for the name. */
export function DeleteDialog({ policy, onClose, onDone }: DialogProps) {
  const [name, setName] = useState('')
  const remove = useDeletePolicy(policy.id, onDone)
  const { id, revision } = policy
  return (
    <Dialog
      title={text.title(policy.name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button
            look="danger"
            disabled={name !== policy.name || remove.isPending}
            onClick={() => remove.mutate(revision)}
          >
            {text.submit}
          </Button>
        </>
      }
    >
      <p>{text.text}</p>
      {policy.published !== null && <Affected content={policy.published} />}
      <Field label={text.field(policy.name)}>
        {(props) => <input {...props} autoFocus value={name} onChange={(event) => setName(event.target.value)} />}
      </Field>
      {remove.isError && <ErrorNotice error={remove.error} />}
      <CommandPreview
        call={{
          method: 'DELETE',
          path: `/v1/organization/policies/${id}?revision=${revision}`,
          command: `gatehouse policies delete ${id} --revision ${revision}`,
        }}
      />
    </Dialog>
  )
}
