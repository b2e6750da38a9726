import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { Badge } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { DecisionBadge } from '../../kit/decision-badge.tsx'
import { count } from '../../kit/format.ts'
import { Notice } from '../../kit/notice.tsx'
import { ShortId } from '../../kit/short-id.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { Author } from '../../session/author.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import { AnswerForm, type AnswerProps } from './answer-form.tsx'
import { Closed } from './closed.tsx'
import { useAppeal, type Appeal } from './queries.ts'
import { ResolveForm } from './resolve-form.tsx'
import { stateTones } from './tones.ts'
import styles from './page.module.css'

const text = words.reviews

type PanelProps = {
  readonly id: string
  /** Before it is closed: keeps it open when it leaves the queue. */
  readonly onResolve: () => void
  readonly onNext: () => void
}

/** One appeal: first the text and the rule, after the own answer also the decision and how it is closed. */
export function AppealPanel({ id, onResolve, onNext }: PanelProps) {
  const [isBlind, setBlind] = useState(true)
  const [hasAnswered, setAnswered] = useState(false)
  const [resolved, setResolved] = useState<Appeal>()
  const hasTexts = useMay('content:read')
  const query = useAppeal(id, { hasTexts, isBlind })
  if (query.isPending) return <LoadingRows widths={[200, 320]} rows={5} />
  if (query.data === undefined)
    return <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />
  const appeal = query.data
  return (
    <div className={styles.panel}>
      <Card
        title={appeal.policy?.name ?? appeal.policy?.id ?? text.noPolicy}
        note={
          <>
            <Badge tone={stateTones[appeal.state]}>{text.states[appeal.state]}</Badge> <ShortId id={appeal.id} />
          </>
        }
      >
        {appeal.needs_third && <Notice tone="warning">{text.needsThird}</Notice>}
        <Disputed appeal={appeal} hasTexts={hasTexts} />
        <Answering appeal={appeal} onReveal={() => setBlind(false)} onAnswered={() => setAnswered(true)} />
      </Card>
      {!appeal.blind && (
        <Decided appeal={appeal}>
          {appeal.state === 'open' ? (
            <ResolveForm appeal={appeal} isFocused={hasAnswered} onResolve={onResolve} onResolved={setResolved} />
          ) : (
            <Closed appeal={resolved ?? appeal} isFocused={resolved !== undefined} onNext={onNext} />
          )}
        </Decided>
      )}
    </div>
  )
}

/** The text, and the rule that is asked about. */
function Disputed({ appeal, hasTexts }: { readonly appeal: Appeal; readonly hasTexts: boolean }) {
  const { policy, text: disputed, direction } = appeal
  return (
    <>
      <div className={styles.part}>
        <span className={styles.faint}>{text.text[direction]}</span>
        {disputed === null ? (
          <p>{hasTexts ? text.textMissing : text.mayNotRead}</p>
        ) : (
          <pre className={styles.words} tabIndex={0}>
            {disputed}
          </pre>
        )}
      </div>
      {policy?.rule && (
        <div className={styles.part}>
          <span className={styles.faint}>{text.rule}</span>
          <pre className={styles.words} tabIndex={0}>
            {policy.rule}
          </pre>
        </div>
      )}
    </>
  )
}

function Answering({ appeal, ...on }: AnswerProps) {
  const mayWrite = useMay('reviews:write')
  const { may_review: mayReview, blind, state, labels } = appeal
  if (state !== 'open' || (!mayReview && !blind && labels.length > 0)) return null
  return (
    <div className={styles.part}>
      {mayReview && mayWrite ? (
        <AnswerForm appeal={appeal} {...on} />
      ) : (
        <Notice tone="none">{mayReview ? text.mayNotReview : text.ownAppeal}</Notice>
      )}
    </div>
  )
}

function Decided({ appeal, children }: { readonly appeal: Appeal; readonly children: ReactNode }) {
  const { claim, origin, note, decision, labels, request_id: requestId } = appeal
  return (
    <Card title={text.decided} note={requestId && <RequestLink requestId={requestId} />}>
      <dl className={styles.facts}>
        <dt>{text.result}</dt>
        <dd>
          {decision === null ? (
            text.decisionGone
          ) : (
            <>
              <DecisionBadge decision={decision.decision} isEnforced={decision.enforced} isError={false} />{' '}
              {decision.score_bp !== null &&
                text.score(
                  count(decision.score_bp),
                  decision.threshold_bp === null ? null : count(decision.threshold_bp),
                )}
            </>
          )}
        </dd>
        {claim !== null && origin !== null && (
          <>
            <dt>{text.claim}</dt>
            <dd>
              {text.claims[claim]}, {text.origins[origin]}
              {note !== null && <blockquote>{note}</blockquote>}
            </dd>
          </>
        )}
        {labels.length > 0 && (
          <>
            <dt>{text.labels}</dt>
            <dd>
              <Labels labels={labels} />
            </dd>
          </>
        )}
      </dl>
      {children}
    </Card>
  )
}

const RequestLink = ({ requestId }: { readonly requestId: string }) => (
  <Link to="/requests/$requestId" params={{ requestId }}>
    {text.request}
  </Link>
)

function Labels({ labels }: { readonly labels: Appeal['labels'] }) {
  return (
    <ul>
      {labels.map(({ id, should, blind, labelled_by: by, note }) => (
        <li key={id}>
          {text.answers[should]}{' '}
          <span className={styles.faint}>
            {text.labelBy} <Author id={by} />
          </span>{' '}
          {!blind && <Badge tone="warning">{text.notBlind}</Badge>} {note}
        </li>
      ))}
    </ul>
  )
}
