import { useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { decisionName } from '../../kit/decision-badge.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { words } from '../../words/en.ts'
import { useDeleteCase, useSaveCase, type CaseCreate, type GatewayCase } from './queries.ts'
import styles from './cases-view.module.css'

const text = { ...words.policy.cases, ...words.gateway.cases }
const path = '/api/policy-gateway/config/cases'

const directions = ['request', 'response'] as const
const expected = ['allow', 'redact', 'rewrite', 'summary', 'escalate', 'refuse'] as const
const weights = ['must', 'should'] as const

type DialogProps = {
  /** The case to change; without it, one is added. */
  readonly stored?: GatewayCase
  readonly onClose: () => void
}

/** A text, and what the configuration is expected to decide. */
export function CaseDialog({ stored, onClose }: DialogProps) {
  const [form, setForm] = useState<CaseCreate>({
    says: stored?.says ?? '',
    given: stored?.given ?? { text: '' },
    expect: stored?.expect ?? 'refuse',
    weight: stored?.weight ?? 'must',
  })
  const set = (changed: Partial<CaseCreate>): void => setForm({ ...form, ...changed })
  const save = useSaveCase(stored, onClose)
  const { says, given, expect, weight = 'must' } = form
  const hasText = given.messages === undefined
  return (
    <FormDialog
      title={stored === undefined ? text.addTitle : text.editTitle}
      action={stored === undefined ? text.add : words.common.save}
      change={save}
      fields={['says', 'given']}
      isDisabled={says.trim() === '' || (hasText && (given.text ?? '') === '')}
      onSubmit={() => save.mutate(form)}
      onClose={onClose}
    >
      <Field label={text.says} hint={text.saysHint} error={errorOfField(save.error, 'says')}>
        {(props) => (
          <input
            {...props}
            autoFocus
            maxLength={200}
            value={says}
            onChange={({ target }) => set({ says: target.value })}
          />
        )}
      </Field>
      {hasText ? (
        <Field label={text.given} hint={text.givenHint} error={errorOfField(save.error, 'given')}>
          {({ className, ...props }) => (
            <textarea
              {...props}
              className={`${className} ${styles.area}`}
              rows={4}
              value={given.text ?? ''}
              onChange={({ target }) => set({ given: { ...given, text: target.value } })}
            />
          )}
        </Field>
      ) : (
        <p>{text.hasMessages}</p>
      )}
      <Field label={text.expect} error={errorOfField(save.error, 'expect')}>
        {(props) => (
          <select
            {...props}
            value={expect}
            onChange={({ target }) => set({ expect: expected.find((each) => each === target.value) ?? expect })}
          >
            {expected.map((each) => (
              <option key={each} value={each}>
                {decisionName(each)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className={styles.choice}>
        <span>{text.direction}</span>
        <Segmented
          label={text.direction}
          options={directions}
          nameOf={(each) => text.directions[each]}
          value={given.direction ?? 'request'}
          onChange={(direction) => set({ given: { ...given, direction } })}
        />
      </div>
      <div className={styles.choice}>
        <span>{text.weight}</span>
        <Segmented
          label={text.weight}
          options={weights}
          nameOf={(each) => text.weightChoices[each]}
          value={weight}
          onChange={(chosen) => set({ weight: chosen })}
        />
      </div>
      <CommandPreview
        call={
          stored === undefined
            ? { method: 'POST', path, body: form }
            : { method: 'PATCH', path: `${path}/${stored.id}`, body: { ...form, revision: stored.revision } }
        }
      />
    </FormDialog>
  )
}

export function DeleteCaseDialog({ stored, onClose }: Required<DialogProps>) {
  const remove = useDeleteCase(onClose)
  return (
    <FormDialog
      title={text.removeTitle}
      action={text.remove}
      look="danger"
      change={remove}
      onSubmit={() => remove.mutate(stored.id)}
      onClose={onClose}
    >
      <p>{text.removeText(stored.says)}</p>
      <CommandPreview call={{ method: 'DELETE', path: `${path}/${stored.id}` }} />
    </FormDialog>
  )
}
