import { useState } from 'react'
import { useMay } from '../../session/session.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { quoted } from '../../kit/command.ts'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { overrideOf } from '../../kit/gate-override.tsx'
import { Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { useActivate, useRetire, useShadow, type Judge } from './queries.ts'

const text = words.judges

type DialogProps = { readonly judge: Judge; readonly onClose: () => void }

const pathOf = ({ id }: Judge, action: string): string => `/v1/organization/judges/${id}/${action}`

/** Lets a judge take over, after naming what it has not shown. */
export function ActivateDialog({ judge, onClose }: DialogProps) {
  const [reason, setReason] = useState('')
  const mayOverride = useMay('policies:override')
  const change = useActivate(judge.id, onClose)
  const open = judge.conditions.filter(({ met }) => !met)
  const body = overrideOf(reason)
  const isOpen = open.length > 0
  const command = `gatehouse judges activate ${judge.id}${body.override ? ` --override ${quoted(body.override.reason)}` : ''}`
  return (
    <FormDialog
      title={text.activateTitle(judge.name)}
      action={isOpen ? text.activateAnyway : text.activate}
      isDisabled={isOpen && (!mayOverride || body.override === undefined)}
      change={change}
      onSubmit={() => change.mutate(body)}
      onClose={onClose}
    >
      <p>{text.activateText}</p>
      {isOpen && <Notice tone="warning">{text.activateOpen}</Notice>}
      {isOpen && (
        <ul>
          {open.map(({ kind, message }) => (
            <li key={kind}>{message}</li>
          ))}
        </ul>
      )}
      {isOpen && mayOverride && (
        <Field label={text.reason} hint={text.reasonHint}>
          {(input) => (
            <input {...input} value={reason} maxLength={500} onChange={({ target }) => setReason(target.value)} />
          )}
        </Field>
      )}
      <CommandPreview call={{ method: 'POST', path: pathOf(judge, 'activate'), body, command }} />
    </FormDialog>
  )
}

const basisPointsPerPercent = 100

/** Asks a judge beside the active one. */
export function ShadowDialog({ judge, onClose }: DialogProps) {
  const [share, setShare] = useState(judge.shadow === null ? 5 : judge.shadow.share_bp / basisPointsPerPercent)
  const change = useShadow(judge.id, onClose)
  const basisPoints = Math.round(share * basisPointsPerPercent)
  return (
    <FormDialog
      title={text.shadowTitle(judge.name)}
      action={text.shadow}
      change={change}
      onSubmit={() => change.mutate(basisPoints)}
      onClose={onClose}
    >
      <p>{text.shadowText}</p>
      <Field label={text.share} hint={text.shareHint}>
        {(input) => (
          <input
            {...input}
            type="number"
            min={0}
            max={100}
            step={0.01}
            required
            value={share}
            onChange={({ target }) => setShare(Number(target.value))}
          />
        )}
      </Field>
      <CommandPreview
        call={{
          method: 'POST',
          path: pathOf(judge, 'shadow'),
          body: { share_bp: basisPoints },
          command: `gatehouse judges shadow ${judge.id} --share ${basisPoints}`,
        }}
      />
    </FormDialog>
  )
}

/** Takes a judge out of use. */
export function RetireDialog({ judge, onClose }: DialogProps) {
  const change = useRetire(judge.id, onClose)
  return (
    <FormDialog
      title={text.retireTitle(judge.name)}
      action={text.retire}
      look="danger"
      change={change}
      onSubmit={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <p>{text.retireText}</p>
      <CommandPreview
        call={{ method: 'POST', path: pathOf(judge, 'retire'), command: `gatehouse judges retire ${judge.id}` }}
      />
    </FormDialog>
  )
}
