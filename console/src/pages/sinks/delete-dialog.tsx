import { useId, useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Field } from '../../kit/field.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { nameOf } from './health.ts'
import { sinkKeys, type Sink } from './queries.ts'

const text = words.sinks

type DeleteProps = { readonly sink: Sink; readonly onClose: () => void; readonly onDeleted: () => void }

/** Deletes a sink after its name was entered, because its position in the log is lost. */
export function DeleteSinkDialog({ sink, onClose, onDeleted }: DeleteProps) {
  const [entered, setEntered] = useState('')
  const formId = useId()
  const name = nameOf(sink)
  const change = useChange({
    send: () =>
      dataOf(api.DELETE('/api/policy-gateway/exports/{export_id}', { params: { path: { export_id: sink.id } } })),
    refresh: sinkKeys,
    onDone: onDeleted,
  })
  return (
    <Dialog
      title={text.deleteTitle(name)}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button look="danger" type="submit" form={formId} disabled={entered !== name || change.isPending}>
            {text.deleteAction}
          </Button>
        </>
      }
    >
      <p>{text.deleteText}</p>
      <form
        id={formId}
        onSubmit={(event) => {
          event.preventDefault()
          if (entered === name) change.mutate(undefined)
        }}
      >
        <Field label={text.deletePrompt(name)}>
          {(input) => (
            <input {...input} value={entered} autoComplete="off" onChange={({ target }) => setEntered(target.value)} />
          )}
        </Field>
      </form>
      {change.isError && <ErrorNotice error={change.error} />}
      <CommandPreview
        call={{
          method: 'DELETE',
          path: `/api/policy-gateway/exports/${sink.id}`,
          command: `gatehouse sinks delete ${sink.id}`,
        }}
      />
    </Dialog>
  )
}
