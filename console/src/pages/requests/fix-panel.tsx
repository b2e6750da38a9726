import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Field } from '../../kit/field.tsx'
import { count } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { LoadingRows } from '../../kit/state.tsx'
import { useMay, useMe } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import {
  useDecidingPolicy,
  useReplay,
  useSaveDraft,
  type Backtest,
  type Policy,
  type PolicyChanges,
} from './fix-queries.ts'
import { effectOf, isSameChange, passingThreshold } from './fix.ts'
import type { RequestDetail } from './queries.ts'
import styles from './fix-panel.module.css'

const text = words.request.fix

type Outcome = RequestDetail['outcomes'][number]

/** Changes the policy that denied a request, with what the change would have done in the last seven days. */
export function FixPanel({ outcome }: { readonly outcome: Outcome }) {
  const [isOpen, setOpen] = useState(false)
  const mayWrite = useMay('policies:write')
  const policyId = outcome.policy_id ?? ''
  const policy = useDecidingPolicy(policyId, isOpen)
  if (!mayWrite) return null
  if (!isOpen)
    return (
      <p>
        <Button isSmall onClick={() => setOpen(true)}>
          {text.open}
        </Button>
      </p>
    )
  if (policy.isError) return <ErrorNotice error={policy.error} />
  return (
    <section className={styles.panel} aria-label={text.open}>
      {policy.data === undefined ? (
        <LoadingRows widths={[160, 80]} rows={2} />
      ) : (
        <Fix policy={policy.data} outcome={outcome} />
      )}
    </section>
  )
}

type FixProps = { readonly policy: Policy; readonly outcome: Outcome }
type Way = 'threshold' | 'rule'

function Fix({ policy, outcome }: FixProps) {
  const lowest = passingThreshold(outcome.score_bp)
  const [way, setWay] = useState<Way>(lowest === undefined ? 'rule' : 'threshold')
  const [threshold, setThreshold] = useState(String(lowest ?? ''))
  const [rule, setRule] = useState(policy.draft.rule)
  const navigate = useNavigate()
  const { features } = useMe()
  const mayReadTexts = useMay('content:read')
  const replay = useReplay(policy.id)
  const save = useSaveDraft(
    policy.id,
    () => void navigate({ to: '/policies/$policyId', params: { policyId: policy.id } }),
  )
  const changes: PolicyChanges = way === 'threshold' ? { match_threshold_basis_points: Number(threshold) } : { rule }
  const isUnchanged = way === 'rule' && rule === policy.draft.rule
  const obstacle = !features.replay
    ? text.noTexts
    : !mayReadTexts
      ? text.mayNotRead
      : isUnchanged
        ? text.unchanged
        : undefined
  const error = save.error ?? replay.error
  const isShown = isSameChange(replay.replayedChanges, changes)
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        replay.start.mutate(changes)
      }}
    >
      {lowest === undefined ? (
        <p className={styles.note}>{text.noThreshold}</p>
      ) : (
        <Segmented
          label={text.way}
          options={['threshold', 'rule']}
          nameOf={(each) => text.ways[each]}
          value={way}
          onChange={setWay}
        />
      )}
      {way === 'threshold' ? (
        <ThresholdField outcome={outcome} value={threshold} onChange={setThreshold} error={error} />
      ) : (
        <RuleField value={rule} onChange={setRule} error={error} />
      )}
      {policy.has_unpublished_changes && <Notice tone="warning">{text.otherChanges}</Notice>}
      {obstacle !== undefined && !isUnchanged && <p className={styles.note}>{obstacle}</p>}
      <p className={styles.buttons}>
        <Button
          look="primary"
          isSmall
          type="submit"
          disabled={obstacle !== undefined || replay.start.isPending}
          title={obstacle}
        >
          {text.replay}
        </Button>
        <Button
          isSmall
          disabled={isUnchanged || save.isPending}
          onClick={() => save.mutate({ revision: policy.revision, ...changes })}
        >
          {text.save}
        </Button>
      </p>
      {error !== null && !isFieldError(error) && <ErrorNotice error={error} />}
      {isShown && <Effect backtest={replay.backtest} />}
      <CommandPreview
        call={{
          method: 'POST',
          path: `/v1/organization/policies/${policy.id}/backtest`,
          body: { limit: 10_000, changes },
        }}
      />
    </form>
  )
}

type FieldProps = { readonly value: string; readonly onChange: (value: string) => void; readonly error: unknown }

/** The replay names the field below `changes`, saving names it alone. */
const errorAt = (error: unknown, field: string): string | undefined =>
  errorOfField(error, field) ?? errorOfField(error, `changes.${field}`)

const ThresholdField = ({ outcome, value, onChange, error }: FieldProps & { readonly outcome: Outcome }) => (
  <Field
    label={text.threshold}
    hint={text.thresholdHint(count(outcome.score_bp), count(outcome.threshold_bp))}
    error={errorAt(error, 'match_threshold_basis_points')}
  >
    {(props) => (
      <input
        {...props}
        type="number"
        min={1}
        max={9999}
        required
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
)

const RuleField = ({ value, onChange, error }: FieldProps) => (
  <Field label={text.rule} hint={text.ruleHint} error={errorAt(error, 'rule')}>
    {({ className, ...props }) => (
      <textarea
        {...props}
        className={`${className ?? ''} ${styles.rule}`}
        rows={3}
        required
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
)

const isFieldError = (error: unknown): boolean =>
  ['rule', 'match_threshold_basis_points', 'changes'].some((field) => errorOfField(error, field) !== undefined)

/** "Would let 4 of 244 through", with the requests. */
function Effect({ backtest }: { readonly backtest: Backtest | undefined }) {
  if (backtest === undefined || backtest.status === 'running') {
    const { done, total } = backtest?.progress ?? { done: 0, total: 1 }
    return <progress aria-label={text.running} value={done} max={Math.max(1, total)} />
  }
  if (backtest.result === null) return <Notice tone="error">{backtest.error ?? words.common.failed}</Notice>
  const effect = effectOf(backtest.result)
  return (
    <div role="status">
      <p>
        <b>{text.letsThrough(count(effect.letThrough), count(effect.deniedByPolicy))}</b>{' '}
        {effect.newlyDenied > 0 && text.denies(count(effect.newlyDenied))} {text.replayed(count(effect.replayed))}
      </p>
      {effect.examples.length > 0 && (
        <ul className={styles.examples}>
          {effect.examples.map(({ requestId, isLetThrough }) => (
            <li key={requestId}>
              <Link to="/requests/$requestId" params={{ requestId }} search={true}>
                <code>{`${requestId.slice(0, 9)}…${requestId.slice(-6)}`}</code>
              </Link>{' '}
              {isLetThrough ? text.wouldPass : text.wouldBeDenied}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
