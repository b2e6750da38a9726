import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { buttonClass } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { quoted } from '../../kit/command.ts'
import { ConfirmName } from '../../kit/confirm-name.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../kit/menu.tsx'
import { words } from '../../words/en.ts'
import { modelKeys } from './queries.ts'

const text = words.models.form

/** An upstream or a model of the organization. */
export type OwnEntry = {
  readonly what: 'upstream' | 'model'
  readonly id: string
  readonly name: string
  readonly paused: boolean
}

type ActionsProps = {
  readonly entry: OwnEntry
  readonly onEdit: () => void
  readonly onAct: (act: 'pause' | 'delete') => void
}

/** The menu of an entry that the organization added. */
export function EntryActions({ entry: { name, paused }, onEdit, onAct }: ActionsProps) {
  return (
    <Menu
      triggerClass={buttonClass({ look: 'ghost', isSmall: true })}
      label={text.actionsOf(name)}
      trigger={<Icon name="more" size={14} />}
    >
      <MenuItem onClick={onEdit}>{text.edit}</MenuItem>
      <MenuItem onClick={() => onAct('pause')}>{paused ? text.resume : text.pause}</MenuItem>
      <MenuSeparator />
      <MenuItem onClick={() => onAct('delete')}>{text.remove}</MenuItem>
    </Menu>
  )
}

type DialogProps = { readonly entry: OwnEntry; readonly onClose: () => void }

const pathOf = ({ what, id }: OwnEntry): string => `/v1/organization/${what}s/${id}`

/** Pauses or resumes, after saying what follows. */
export function PauseDialog({ entry, onClose }: DialogProps) {
  const { what, id, name, paused } = entry
  const body = { paused: !paused }
  const change = useChange({
    send: (): Promise<unknown> =>
      what === 'upstream'
        ? dataOf(api.PATCH('/v1/organization/upstreams/{upstream_id}', { params: { path: { upstream_id: id } }, body }))
        : dataOf(api.PATCH('/v1/organization/models/{model_id}', { params: { path: { model_id: id } }, body })),
    refresh: modelKeys,
    onDone: onClose,
  })
  const verb = paused ? 'resume' : 'pause'
  return (
    <FormDialog
      title={text.pauseTitle[verb](name)}
      action={text[verb]}
      change={change}
      onSubmit={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <p>{paused ? text.resumeText : text.pauseText[what]}</p>
      <CommandPreview
        call={{ method: 'PATCH', path: pathOf(entry), body, command: `gatehouse ${what}s ${verb} ${quoted(name)}` }}
      />
    </FormDialog>
  )
}

/** Deletes after the name was entered. */
export function DeleteEntryDialog({ entry, onClose }: DialogProps) {
  const { what, id, name } = entry
  const [isConfirmed, setConfirmed] = useState(false)
  const change = useChange({
    send: (): Promise<unknown> =>
      what === 'upstream'
        ? dataOf(api.DELETE('/v1/organization/upstreams/{upstream_id}', { params: { path: { upstream_id: id } } }))
        : dataOf(api.DELETE('/v1/organization/models/{model_id}', { params: { path: { model_id: id } } })),
    refresh: modelKeys,
    onDone: onClose,
  })
  return (
    <FormDialog
      title={text.removeTitle(name)}
      action={text.remove}
      look="danger"
      isDisabled={!isConfirmed}
      change={change}
      onSubmit={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <p>{text.removeText[what]}</p>
      <ConfirmName name={name} onChange={setConfirmed} />
      <CommandPreview
        call={{ method: 'DELETE', path: pathOf(entry), command: `gatehouse ${what}s delete ${quoted(name)}` }}
      />
    </FormDialog>
  )
}
