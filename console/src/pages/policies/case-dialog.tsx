import { useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { FormDialog } from '../../kit/form-dialog.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { words } from '../../words/en.ts'
import { useSaveCase, type CaseCreate, type Policy, type PolicyCase } from './queries.ts'
import areas from './edit-tab.module.css'

const text = words.policy.cases

type DialogProps = {
  readonly policy: Policy
  /** The case to change; without it, one is added. */
  readonly stored?: PolicyCase
  /** For a new case. */
  readonly initial?: CaseCreate['given']
  readonly onClose: () => void
}

const directions = ['request', 'response'] as const
const expectations = ['match', 'no_match'] as const
const weights = ['must', 'should'] as const

/** What the rule is given, and what it is expected to say. */
export function CaseDialog({ policy, stored, initial = { text: '' }, onClose }: DialogProps) {
  const [form, setForm] = useState<CaseCreate>({
    says: stored?.says ?? '',
    given: stored?.given ?? initial,
    expect: stored?.expect ?? 'match',
    weight: stored?.weight ?? 'must',
  })
  const set = (changed: Partial<CaseCreate>): void => setForm({ ...form, ...changed })
  const save = useSaveCase(policy.id, stored, onClose)
  const { says, given, expect, weight = 'must' } = form
  const hasText = given.messages === undefined
  const path = `/v1/organization/policies/${policy.id}/cases`
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
            onChange={(event) => set({ says: event.target.value })}
          />
        )}
      </Field>
      {hasText ? (
        <Field label={text.given} hint={text.givenHint} error={errorOfField(save.error, 'given')}>
          {({ className, ...props }) => (
            <textarea
              {...props}
              className={`${className} ${areas.area}`}
              rows={4}
              value={given.text ?? ''}
              onChange={(event) => set({ given: { ...given, text: event.target.value } })}
            />
          )}
        </Field>
      ) : (
        <p className={areas.note}>{text.hasMessages}</p>
      )}
      {policy.draft.direction === 'both' && (
        <Choice
          label={text.direction}
          options={directions}
          nameOf={(each) => text.directions[each]}
          value={given.direction ?? 'request'}
          onChange={(direction) => set({ given: { ...given, direction } })}
        />
      )}
      <Choice
        label={text.expect}
        options={expectations}
        nameOf={(each) => text.expectations[each]}
        value={typeof expect === 'string' ? expect : undefined}
        onChange={(chosen) => set({ expect: chosen })}
      />
      <Choice
        label={text.weight}
        options={weights}
        nameOf={(each) => text.weightChoices[each]}
        value={weight}
        onChange={(chosen) => set({ weight: chosen })}
      />
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

type ChoiceProps<Value extends string> = {
  readonly label: string
  readonly options: readonly Value[]
  readonly nameOf: (option: Value) => string
  /** Undefined: none of them, such as a range of scores. */
  readonly value: Value | undefined
  readonly onChange: (value: Value) => void
}

const Choice = <Value extends string>({ label, value, ...props }: ChoiceProps<Value>) => (
  <div className={areas.choice}>
    <span>{label}</span>
    <Segmented label={label} value={value ?? ('' as Value)} {...props} />
  </div>
)
