import { useState, type SubmitEvent } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { errorOfField, useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Field } from '../../kit/field.tsx'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { balanceKey, ledgerKey } from './queries.ts'
import { useCreditManager } from './use-credit-manager.ts'
import styles from './page.module.css'

const text = words.limits

type ChangeKind = 'grant' | 'correct'

/** The buttons that grant credits and take them back, disabled with the reason where the signed-in key may not. */
export function ChangeCredits() {
  const [open, setOpen] = useState<ChangeKind>()
  const reason = useCreditManager()
  return (
    <div className={styles.buttons}>
      {(['grant', 'correct'] as const).map((kind) => (
        <Button key={kind} disabled={reason !== undefined} title={reason} onClick={() => setOpen(kind)}>
          {text[kind]}
        </Button>
      ))}
      {reason !== undefined && <span className={styles.quiet}>{reason}</span>}
      {open && <CreditDialog kind={open} onClose={() => setOpen(undefined)} />}
    </div>
  )
}

const paths = {
  grant: '/v1/organization/credits/grants',
  correct: '/v1/organization/credits/corrections',
} as const

type DialogProps = { readonly kind: ChangeKind; readonly onClose: () => void }

function CreditDialog({ kind, onClose }: DialogProps) {
  const [credits, setCredits] = useState('')
  const [ref, setRef] = useState('')
  const [reason, setReason] = useState('')
  const body = { credits: Number(credits), ...(ref && { ref }), ...(reason && { reason }) }
  const change = useChange({
    send: () => dataOf(api.POST(paths[kind], { body })),
    refresh: [balanceKey, ledgerKey],
    onDone: ({ is_new: isNew }) => {
      if (isNew) onClose()
    },
  })
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    change.mutate(undefined)
  }
  const isAtField = ['credits', 'ref', 'reason'].some((field) => errorOfField(change.error, field) !== undefined)
  return (
    <Dialog
      title={text[kind]}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button
            type="submit"
            form="change-credits"
            look={kind === 'grant' ? 'primary' : 'danger'}
            disabled={!(Number(credits) > 0) || change.isPending}
          >
            {(kind === 'grant' ? text.granting : text.correcting)(credits || '…')}
          </Button>
        </>
      }
    >
      <form id="change-credits" className={styles.form} onSubmit={submit}>
        <p>{kind === 'grant' ? text.grantText : text.correctText}</p>
        <Field label={text.amount} error={errorOfField(change.error, 'credits')}>
          {(input) => (
            <input
              {...input}
              type="number"
              min="0"
              step="any"
              required
              autoFocus
              value={credits}
              onChange={(event) => setCredits(event.target.value)}
            />
          )}
        </Field>
        <Field label={text.reference} hint={text.referenceHint} error={errorOfField(change.error, 'ref')}>
          {(input) => <input {...input} value={ref} onChange={(event) => setRef(event.target.value)} />}
        </Field>
        <Field label={text.reason} hint={text.reasonHint} error={errorOfField(change.error, 'reason')}>
          {(input) => <input {...input} value={reason} onChange={(event) => setReason(event.target.value)} />}
        </Field>
        {change.data?.is_new === false && <Notice tone="warning">{text.countedBefore}</Notice>}
        {change.isError && !isAtField && <ErrorNotice error={change.error} />}
        <CommandPreview call={{ method: 'POST', path: paths[kind], body, command: commandOf(kind, body) }} />
      </form>
    </Dialog>
  )
}

function commandOf(kind: ChangeKind, body: { credits: number; ref?: string; reason?: string }): string {
  const option = (name: string, value: string | undefined): string =>
    value === undefined ? '' : ` --${name} ${JSON.stringify(value)}`
  return `gatehouse credits ${kind} ${body.credits}${option('ref', body.ref)}${option('note', body.reason)}`
}
