import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { DecisionBadge } from '../../kit/decision-badge.tsx'
import { count, dollars, milliseconds } from '../../kit/format.ts'
import { shownVerdict } from '../../kit/request-summary.ts'
import { words } from '../../words/en.ts'
import type { RequestDetail } from './queries.ts'
import styles from './result-card.module.css'

const text = words.playground

type FactListProps = {
  readonly badge: ReactNode
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly children?: ReactNode
}

/** Figures that are compared with those of the other side. */
export const FactList = ({ badge, facts, children }: FactListProps) => (
  <div className={styles.facts}>
    {badge}
    <dl>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
    {children}
  </div>
)

/** What the request cost, and the way to it in the log. */
export function Facts({ detail }: { readonly detail: RequestDetail }) {
  const { decision, notEvaluated } = shownVerdict(detail)
  return (
    <FactList
      badge={
        <>
          <DecisionBadge decision={decision} isEnforced={detail.is_enforced} isError={detail.status === 'error'} />
          {notEvaluated > 0 && <span className={styles.note}>{words.request.notEvaluated(notEvaluated)}</span>}
        </>
      }
      facts={[
        [words.requests.tokens, tokensOf(detail)],
        [words.requests.cost, dollars(detail.cost_usd)],
        [text.took, text.inMs(milliseconds(detail.latency_ms))],
        [words.requests.upstream, detail.upstream ?? words.common.none],
      ]}
    >
      <Link to="/requests/$requestId" params={{ requestId: detail.id }}>
        {text.openRequest}
      </Link>
    </FactList>
  )
}

export const tokensOf = ({ input_tokens: input, output_tokens: output }: RequestDetail): string =>
  input === null ? words.common.none : `${count(input)} + ${count(output)}`
