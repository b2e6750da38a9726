import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, dataOf } from '../../api/client.ts'
import { usePolicyNames } from '../../api/names.ts'
import type { components } from '../../api/schema.d.ts'
import { errorOfField, useChange } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import type { RequestDetail } from './queries.ts'

const text = words.reviews

type NewAppeal = components['schemas']['AppealCreate']

/** Says that the decision on a request was wrong. Another person reviews it on the page Reviews. */
export function AppealSection({ request }: { readonly request: RequestDetail }) {
  const [isOpen, setOpen] = useState(false)
  const [openedId, setOpenedId] = useState<string>()
  const mayWrite = useMay('reviews:write')
  if (!mayWrite || request.direction === null) return null
  const claim = request.decision === 'allow' ? 'should_be_denied' : 'should_be_allowed'
  const onDone = (id: string): void => {
    setOpen(false)
    setOpenedId(id)
  }
  if (openedId !== undefined)
    return (
      <p role="status">
        <Link to="/reviews" search={{ appeal: openedId }}>
          {text.appealOpened}
        </Link>
      </p>
    )
  return (
    <p>
      <Button isSmall onClick={() => setOpen(true)}>
        {text.appealButton[claim]}
      </Button>
      {isOpen && <AppealDialog request={request} claim={claim} onDone={onDone} onClose={() => setOpen(false)} />}
    </p>
  )
}

type DialogProps = {
  readonly request: RequestDetail
  readonly claim: NewAppeal['claim']
  readonly onDone: (appealId: string) => void
  readonly onClose: () => void
}

function AppealDialog({ request, claim, onDone, onClose }: DialogProps) {
  const [note, setNote] = useState('')
  const [policyId, setPolicyId] = useState('')
  const policies = usePolicyNames(useMay('policies:read'))
  const change = useChange({
    send: (body: NewAppeal) => dataOf(api.POST('/v1/organization/appeals', { body })),
    refresh: [['appeals'], ['overview']],
    onDone: ({ id }) => onDone(id),
  })
  const body: NewAppeal = { event_id: request.event_id, note, claim, ...(policyId !== '' && { policy_id: policyId }) }
  const command = `gatehouse appeals open --event ${request.event_id} --claim ${claim} --note ${JSON.stringify(note)}`
  return (
    <FormDialog
      title={text.appealTitle[claim]}
      action={text.appealButton[claim]}
      isDisabled={note.trim() === ''}
      change={change}
      fields={['note', 'policy_id']}
      onSubmit={() => change.mutate(body)}
      onClose={onClose}
    >
      <Field label={text.appealNote} hint={text.appealHint} error={errorOfField(change.error, 'note')}>
        {(props) => (
          <textarea
            {...props}
            rows={3}
            maxLength={1000}
            value={note}
            onChange={(event) => setNote(event.currentTarget.value)}
          />
        )}
      </Field>
      {claim === 'should_be_denied' && (
        <Field label={text.appealPolicy} error={errorOfField(change.error, 'policy_id')}>
          {(props) => (
            <select {...props} value={policyId} onChange={(event) => setPolicyId(event.currentTarget.value)}>
              <option value="">{text.anyPolicy}</option>
              {[...policies].map(([id, name]) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <CommandPreview call={{ method: 'POST', path: '/v1/organization/appeals', body, command }} />
    </FormDialog>
  )
}
