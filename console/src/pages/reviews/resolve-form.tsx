import { useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { usePolicyRevision, useResolve, type Appeal, type Resolution } from './queries.ts'
import { outcomeOf } from './outcome.ts'
import styles from './page.module.css'

const text = words.reviews

/** Closes an appeal: as its labels say with what follows from it, or without a decision. */
export function ResolveForm({ appeal }: { readonly appeal: Appeal }) {
  const { policy, decision, is_text_kept: isKept } = appeal
  const outcome = outcomeOf(appeal)
  const mayResolve = useMay('reviews:write')
  const mayChange = useMay('policies:write') && policy !== null && decision?.score_bp !== null && decision !== null
  const [isCase, setCase] = useState(isKept === true && policy !== null)
  const [threshold, setThreshold] = useState('')
  const [reason, setReason] = useState('')
  const revision = usePolicyRevision(policy?.id ?? '', mayChange)
  const resolve = useResolve(appeal.id)
  if (!mayResolve) return null

  const bodyOf = (as: Resolution['outcome']): Resolution => ({
    outcome: as,
    ...(reason.trim() !== '' && { reason }),
    ...(as !== 'dismissed' && isCase && { case: true as const }),
    ...(as !== 'dismissed' &&
      threshold !== '' && {
        draft: { match_threshold_basis_points: Number(threshold) },
        revision: revision.data ?? 1,
      }),
  })
  return (
    <div className={styles.part} role="group" aria-label={text.resolve}>
      <strong>{text.resolve}</strong>
      {outcome === undefined ? (
        <span className={styles.faint}>{appeal.needs_third ? text.needsThird : text.undecided}</span>
      ) : (
        policy !== null && (
          <>
            <label className={styles.check}>
              <input
                type="checkbox"
                checked={isCase}
                disabled={isKept !== true}
                onChange={(event) => setCase(event.currentTarget.checked)}
              />
              {isKept === true ? text.makeCase : text.noCase}
            </label>
            {mayChange && decision?.score_bp !== undefined && decision.score_bp !== null && (
              <Field
                label={text.threshold}
                hint={text.thresholdHint(decision.score_bp)}
                error={errorOfField(resolve.error, 'draft')}
              >
                {(props) => (
                  <input
                    {...props}
                    inputMode="numeric"
                    value={threshold}
                    onChange={(event) => setThreshold(event.currentTarget.value.replace(/\D/g, '').slice(0, 4))}
                  />
                )}
              </Field>
            )}
          </>
        )
      )}
      <Field label={text.reason}>
        {(props) => (
          <input
            {...props}
            value={reason}
            maxLength={1000}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        )}
      </Field>
      <div className={styles.answers}>
        {outcome !== undefined && (
          <Button look="primary" disabled={resolve.isPending} onClick={() => resolve.mutate(bodyOf(outcome))}>
            {text.outcomes[outcome]}
          </Button>
        )}
        <Button disabled={resolve.isPending} onClick={() => resolve.mutate(bodyOf('dismissed'))}>
          {text.outcomes.dismissed}
        </Button>
      </div>
      {resolve.isError && <ErrorNotice error={resolve.error} />}
      <CommandPreview
        call={{
          method: 'POST',
          path: `/v1/organization/appeals/${appeal.id}/resolve`,
          body: bodyOf(outcome ?? 'dismissed'),
          command: `gatehouse appeals resolve ${appeal.id} --outcome ${outcome ?? 'dismissed'}${isCase && outcome !== undefined ? ' --case' : ''}`,
        }}
      />
    </div>
  )
}
