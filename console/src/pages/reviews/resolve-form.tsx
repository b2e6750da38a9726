import { useEffect, useRef, useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { DraftPart } from './draft-part.tsx'
import { ExceptionPart } from './exception-part.tsx'
import { outcomeOf } from './outcome.ts'
import { usePolicy, useResolve, type Appeal, type Outcome } from './queries.ts'
import { canHaveException, isComplete, resolutionOf, resolveCommand, type ResolutionForm } from './resolution.ts'
import styles from './page.module.css'

const text = words.reviews

type FormProps = {
  readonly appeal: Appeal
  /** Takes the focus, because the buttons of the answer are gone. */
  readonly isFocused: boolean
  readonly onResolve: () => void
  readonly onResolved: (appeal: Appeal) => void
}

/** Closes an appeal: as its labels say with what follows from it, or without a decision. */
export function ResolveForm({ appeal, isFocused, onResolve, onResolved }: FormProps) {
  const { policy, is_text_kept: isKept } = appeal
  const outcome = outcomeOf(appeal)
  const mayResolve = useMay('reviews:write')
  const mayPublish = useMay('policies:publish')
  const [form, setForm] = useState<ResolutionForm>({
    answer: '',
    isCase: isKept === true && policy !== null,
    says: '',
    draft: undefined,
    exception: undefined,
  })
  const mayWrite = useMay('policies:write')
  const current = usePolicy(policy?.id ?? '', mayWrite && policy !== null && outcome === 'overturned')
  const resolve = useResolve(appeal.id, onResolved)
  const part = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isFocused) part.current?.focus()
  }, [isFocused])
  if (!mayResolve) return null

  const set = (changed: Partial<ResolutionForm>): void => setForm({ ...form, ...changed })
  const bodyOf = (as: Outcome) =>
    resolutionOf(form, as, { revision: current.data?.revision ?? 1, nowSeconds: Date.now() / 1_000 })
  const close = (as: Outcome): void => {
    onResolve()
    resolve.mutate(bodyOf(as))
  }
  const days = form.exception?.days ?? ''
  const isReady = !resolve.isPending && isComplete(form, current.data?.draft.rule)
  const shown = bodyOf(outcome ?? 'dismissed')
  return (
    <div ref={part} className={styles.part} role="group" aria-label={text.resolve} tabIndex={-1}>
      <strong>{text.resolve}</strong>
      {outcome === undefined && (
        <span className={styles.faint}>{appeal.needs_third ? text.needsThird : text.undecided}</span>
      )}
      {outcome !== undefined && policy !== null && (
        <>
          <CasePart isKept={isKept === true} form={form} onChange={set} />
          {outcome === 'overturned' && mayWrite && (
            <DraftPart
              appeal={appeal}
              policy={current.data}
              form={form.draft}
              error={resolve.error}
              onChange={(draft) => set({ draft })}
            />
          )}
          {canHaveException(appeal, outcome) && mayPublish && (
            <ExceptionPart
              appeal={appeal}
              form={form.exception}
              error={resolve.error}
              onChange={(exception) => set({ exception })}
            />
          )}
        </>
      )}
      <Field label={text.reason} error={errorOfField(resolve.error, 'reason')}>
        {(props) => (
          <input
            {...props}
            value={form.answer}
            maxLength={1000}
            onChange={(event) => set({ answer: event.currentTarget.value })}
          />
        )}
      </Field>
      <div className={styles.answers}>
        {outcome !== undefined && (
          <Button look="primary" disabled={!isReady} onClick={() => close(outcome)}>
            {text.outcomes[outcome]}
          </Button>
        )}
        <Button disabled={resolve.isPending} onClick={() => close('dismissed')}>
          {text.outcomes.dismissed}
        </Button>
      </div>
      {resolve.isError && <ErrorNotice error={resolve.error} />}
      <CommandPreview
        call={{
          method: 'POST',
          path: `/v1/organization/appeals/${appeal.id}/resolve`,
          body: shown,
          command: resolveCommand(appeal.id, shown, days),
        }}
      />
    </div>
  )
}

type CaseProps = {
  readonly isKept: boolean
  readonly form: ResolutionForm
  readonly onChange: (changed: Partial<ResolutionForm>) => void
}

/** Keeps the text as a case, so that no later draft decides it wrongly again. */
function CasePart({ isKept, form, onChange }: CaseProps) {
  return (
    <>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={form.isCase}
          disabled={!isKept}
          onChange={(event) => onChange({ isCase: event.currentTarget.checked })}
        />
        {isKept ? text.makeCase : text.noCase}
      </label>
      {form.isCase && (
        <div className={styles.made}>
          <Field label={text.caseSays} hint={words.policy.cases.saysHint}>
            {(props) => (
              <input
                {...props}
                value={form.says}
                maxLength={200}
                onChange={(event) => onChange({ says: event.currentTarget.value })}
              />
            )}
          </Field>
        </div>
      )}
    </>
  )
}
