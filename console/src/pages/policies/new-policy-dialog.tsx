import { useNavigate } from '@tanstack/react-router'
import { useId, useState, type ReactNode } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { Field } from '../../kit/field.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { createCommandOf } from './content.ts'
import { useCreatePolicy, type PolicyCreate } from './queries.ts'
import styles from './edit-tab.module.css'

const text = words.policies

type DialogProps = { readonly initial: PolicyCreate; readonly onClose: () => void; readonly children?: ReactNode }

/** A name and a rule are enough for a draft. The other settings have defaults, and are on the page that opens. */
export function NewPolicyDialog({ initial, onClose, children }: DialogProps) {
  const [{ name, rule }, set] = useState({ name: initial.name, rule: initial.rule })
  const navigate = useNavigate()
  const formId = useId()
  const create = useCreatePolicy(({ id }) => void navigate({ to: '/policies/$policyId', params: { policyId: id } }))
  const body = { ...initial, name, rule }
  const nameError = errorOfField(create.error, 'name')
  const ruleError = errorOfField(create.error, 'rule')
  const hasFieldError = nameError !== undefined || ruleError !== undefined
  return (
    <Dialog
      isWide
      title={text.createTitle}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.common.cancel}</Button>
          <Button look="primary" type="submit" form={formId} disabled={create.isPending}>
            {text.createSubmit}
          </Button>
        </>
      }
    >
      <form
        id={formId}
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate(body)
        }}
      >
        <p>{text.createNote}</p>
        {children}
        <Field label={text.name} hint={text.nameHint} error={nameError}>
          {(props) => <input {...props} value={name} onChange={(event) => set({ rule, name: event.target.value })} />}
        </Field>
        <Field label={words.policy.rule} hint={text.ruleHint} error={ruleError}>
          {({ className, ...props }) => (
            <textarea
              {...props}
              className={`${className} ${styles.area}`}
              rows={4}
              spellCheck={false}
              value={rule}
              onChange={(event) => set({ name, rule: event.target.value })}
            />
          )}
        </Field>
        {create.isError && !hasFieldError && <ErrorNotice error={create.error} />}
      </form>
      <CommandPreview
        call={{
          method: 'POST',
          path: '/v1/organization/policies',
          body,
          command: createCommandOf(body),
        }}
      />
    </Dialog>
  )
}
