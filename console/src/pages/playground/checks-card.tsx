import { useState } from 'react'
import { useMe } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { DecisionBadge } from '../../kit/decision-badge.tsx'
import { count } from '../../kit/format.ts'
import { MarkedText } from '../../kit/marked-text.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { useDebounced } from '../../kit/use-debounced.ts'
import { SmallHeading } from '../../kit/small-heading.tsx'
import { words } from '../../words/en.ts'
import { policiesOf } from './comparison.ts'
import { checkedTexts, hasText, scenarioOf, type Settings, type Texts } from './draft.ts'
import { useEvaluation, type Evaluation, type EvaluationRequest } from './queries.ts'
import type { PlaygroundSearch } from './search.ts'
import type { NamedSide } from './sides.ts'
import { VerdictBadge } from './verdict-badge.tsx'
import styles from './checks-card.module.css'

const text = words.playground

type ChecksProps = {
  readonly mayCheck: boolean
  readonly settings: Settings
  readonly texts: Texts
  readonly search: PlaygroundSearch
  readonly sides: readonly [NamedSide, NamedSide?]
}

/** What the checks decide about the request, while one types, on each side of a comparison. */
export const ChecksCard = ({ mayCheck, ...props }: ChecksProps) => (
  <Card title={text.checks} note={text.checksNote}>
    {mayCheck ? (
      <div className={styles.card}>
        <Verdicts {...props} />
      </div>
    ) : (
      <p>{text.mayNotCheck}</p>
    )}
  </Card>
)

function Verdicts({ settings, texts, search, sides }: Omit<ChecksProps, 'mayCheck'>) {
  const { features } = useMe()
  const [judged, setJudged] = useState<string>()
  const requests = sides.map((side) => side && requestOf(side, { settings, texts, search }))
  const settled = useDebounced({ requests, texts })
  const isEmpty = !hasText(settled.texts)
  const judge = judged === JSON.stringify(settled.requests)
  const [first, second] = settled.requests.map((request) => (request && !isEmpty ? { ...request, judge } : undefined))
  const one = useEvaluation(first)
  const other = useEvaluation(second)
  if (isEmpty) return <p className={styles.note}>{text.noText}</p>
  if (one.isError) return <ErrorNotice error={one.error} />
  if (one.data === undefined) return null
  const shown = second === undefined ? [one.data] : other.data === undefined ? [one.data] : [one.data, other.data]
  const needsJudge =
    features.judge && shown.some(({ outcomes }) => outcomes.some(({ not_evaluated: why }) => why === 'judge_not_asked'))
  const last = shown.at(-1) ?? one.data
  return (
    <>
      <Comparison names={sides.map((side) => side?.name ?? '')} evaluations={shown} />
      {other.isError && <ErrorNotice error={other.error} />}
      {needsJudge && (
        <p className={styles.note}>
          <Button isSmall onClick={() => setJudged(JSON.stringify(settled.requests))}>
            {text.askJudge}
          </Button>{' '}
          {text.askJudgeNote}
        </p>
      )}
      <Marks texts={checkedTexts(settled.texts)} evidence={last.evidence} />
      <CommandPreview call={{ method: 'POST', path: '/v1/organization/evaluate', body: second ?? first }} />
    </>
  )
}

type Evaluated = Pick<ChecksProps, 'settings' | 'texts' | 'search'>

const requestOf = ({ model, rules }: NamedSide, { settings, texts, search }: Evaluated): EvaluationRequest => ({
  policies: policiesOf(rules),
  scenario: scenarioOf({ ...settings, model }, texts, search),
})

type ComparisonProps = { readonly names: readonly string[]; readonly evaluations: readonly Evaluation[] }

/** One row a check, the verdict first; one column a side. */
function Comparison({ names, evaluations }: ComparisonProps) {
  const rows = new Map(evaluations.flatMap(({ outcomes }) => outcomes.map((outcome) => [keyOf(outcome), outcome])))
  return (
    <div role="status">
      <table className={styles.table} aria-label={text.checks}>
        <thead>
          <tr>
            <th scope="col">{text.check}</th>
            {evaluations.map((_, at) => (
              <th key={at} scope="col">
                {names[at]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr className={styles.verdict}>
            <th scope="row">{text.verdict}</th>
            {evaluations.map((evaluation, at) => (
              <td key={at}>
                <VerdictBadge evaluation={evaluation} />
              </td>
            ))}
          </tr>
          {[...rows].map(([key, { name, version, check, policy_id: policyId }]) => (
            <tr key={key}>
              <th scope="row" title={policyId ?? undefined}>
                {name ?? words.gateway.checks[check]} {version !== null && <small>v{version}</small>}
              </th>
              {evaluations.map(({ outcomes }, at) => (
                <td key={at}>
                  <OutcomeCell outcome={outcomes.find((outcome) => keyOf(outcome) === key)} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type Outcome = Evaluation['outcomes'][number]

const keyOf = ({ check, policy_id: policyId, name }: Outcome): string => `${check} ${policyId ?? name ?? ''}`

function OutcomeCell({ outcome }: { readonly outcome: Outcome | undefined }) {
  if (outcome === undefined) return words.common.none
  const { decision, enforced, score_bp: score, threshold_bp: threshold, not_evaluated: reason } = outcome
  return (
    <>
      <DecisionBadge decision={decision} isEnforced={enforced} />
      {score !== null && (
        <span className={styles.number} title={words.policy.score}>
          {count(score)}
          <small> / {count(threshold)}</small>
        </span>
      )}
      {reason !== null && <span className={styles.reason}>{words.policy.notEvaluated(reason)}</span>}
    </>
  )
}

type MarksProps = { readonly texts: readonly string[]; readonly evidence: Evaluation['evidence'] }

/** The texts in which something was found. */
function Marks({ texts, evidence }: MarksProps) {
  const found = texts.flatMap((each, at) => {
    const marks = evidence.filter(
      ({ where, kind }) => where?.kind === 'part' && where.message === at && kind !== 'variable',
    )
    return marks.length === 0 ? [] : [{ at, each, marks }]
  })
  if (found.length === 0) return null
  return (
    <section className={styles.evidence} aria-label={text.evidence}>
      <SmallHeading>{text.evidence}</SmallHeading>
      {found.map(({ at, each, marks }) => (
        <MarkedText key={at} text={each} marks={marks} />
      ))}
    </section>
  )
}
