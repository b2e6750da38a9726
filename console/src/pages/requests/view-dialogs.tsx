import { useState } from 'react'
import { useMay } from '../../session/session.tsx'
import { useCreateViews, useRenameView, type SavedView } from '../../session/views.ts'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { words } from '../../words/en.ts'
import styles from './views.module.css'

const text = words.requests.views

type SaveProps = { readonly query: string; readonly onClose: () => void }

export function SaveDialog({ query, onClose }: SaveProps) {
  const [name, setName] = useState('')
  const [isShared, setShared] = useState(false)
  const mayShare = useMay('policies:write')
  const create = useCreateViews('requests', onClose)
  const view = { name: name.trim(), query, shared: isShared }
  return (
    <FormDialog
      title={text.save}
      action={words.common.save}
      isDisabled={view.name === ''}
      change={create}
      onSubmit={() => create.mutate([view])}
      onClose={onClose}
    >
      <NameField name={name} onChange={setName} />
      {mayShare && (
        <label className={styles.share}>
          <input type="checkbox" checked={isShared} onChange={(event) => setShared(event.target.checked)} />
          {text.share}
        </label>
      )}
      <CommandPreview call={{ method: 'POST', path: '/v1/organization/views', body: { ...view, page: 'requests' } }} />
    </FormDialog>
  )
}

type RenameProps = { readonly view: SavedView; readonly onClose: () => void }

export function RenameDialog({ view, onClose }: RenameProps) {
  const [name, setName] = useState(view.name)
  const rename = useRenameView('requests', onClose)
  return (
    <FormDialog
      title={text.rename(view.name)}
      action={words.common.save}
      isDisabled={name.trim() === ''}
      change={rename}
      onSubmit={() => rename.mutate({ id: view.id, name: name.trim() })}
      onClose={onClose}
    >
      <NameField name={name} onChange={setName} />
      <CommandPreview
        call={{ method: 'PATCH', path: `/v1/organization/views/${view.id}`, body: { name: name.trim() } }}
      />
    </FormDialog>
  )
}

type NameProps = { readonly name: string; readonly onChange: (name: string) => void }

const NameField = ({ name, onChange }: NameProps) => (
  <Field label={text.name} hint={text.hint}>
    {(input) => <input {...input} maxLength={80} value={name} onChange={(event) => onChange(event.target.value)} />}
  </Field>
)
