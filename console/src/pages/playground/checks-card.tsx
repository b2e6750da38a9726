import { useState } from 'react'
import { useMay, useMe } from '../../session/session.tsx'
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
import { checkedTexts, evaluationOf, hasText, type Settings, type Texts } from './draft.ts'
import { useDrafts, useEvaluation, type Evaluation } from './queries.ts'
import type { PlaygroundSearch } from './search.ts'
import { Select } from './select.tsx'
import styles from './checks-card.module.css'

const text = words.playground

type ChecksProps = {
  readonly settings: Settings
  readonly texts: Texts
  readonly search: PlaygroundSearch
  readonly onDraft: (policyId: string | undefined) => void
}

/** What the checks decide about the request, while one types: in force, and with the draft of a policy in place of it. */
export function ChecksCard(props: ChecksProps) {
  const mayReadPolicies = useMay('policies:read')
  const mayReadGateway = useMay('gateway:read')
  const mayCheck = mayReadPolicies && mayReadGateway
  const drafts = useDrafts(mayCheck) ?? []
  const { search, onDraft } = props
  return (
    <Card title={text.checks} note={text.checksNote}>
      {mayCheck ? (
        <div className={styles.card}>
          {(drafts.length > 0 || search.draft !== undefined) && (
            <Select
              label={text.compare}
              value={search.draft ?? ''}
              options={[['', text.noDraft], ...drafts]}
              onChange={(policyId) => onDraft(policyId === '' ? undefined : policyId)}
            />
          )}
          <Verdicts {...props} draftName={drafts.find(([id]) => id === search.draft)?.[1] ?? search.draft} />
        </div>
      ) : (
        <p>{text.mayNotCheck}</p>
      )}
    </Card>
  )
}

type VerdictsProps = ChecksProps & { readonly draftName: string | undefined }

function Verdicts({ settings, texts, search, draftName }: VerdictsProps) {
  const { features } = useMe()
  const [judged, setJudged] = useState<string>()
  const settled = useDebounced({ base: evaluationOf(settings, texts, search), draft: search.draft, texts })
  const isEmpty = !hasText(settled.texts)
  const judge = judged === JSON.stringify(settled.base)
  const base = { ...settled.base, judge }
  const inForce = useEvaluation(isEmpty ? undefined : base)
  const { draft } = settled
  const withDraft = draft === undefined ? undefined : { ...base, policies: policiesWith(draft) }
  const drafted = useEvaluation(isEmpty ? undefined : withDraft)
  if (isEmpty) return <p className={styles.note}>{text.noText}</p>
  if (inForce.isError) return <ErrorNotice error={inForce.error} />
  if (inForce.data === undefined) return null
  const shown = draft === undefined ? inForce.data : (drafted.data ?? inForce.data)
  const needsJudge = features.judge && shown.outcomes.some(({ not_evaluated: why }) => why === 'judge_not_asked')
  return (
    <>
      <Comparison inForce={inForce.data} draft={draft === undefined ? undefined : drafted.data} draftName={draftName} />
      {drafted.isError && <ErrorNotice error={drafted.error} />}
      {needsJudge && (
        <p className={styles.note}>
          <Button isSmall onClick={() => setJudged(JSON.stringify(settled.base))}>
            {text.askJudge}
          </Button>{' '}
          {text.askJudgeNote}
        </p>
      )}
      <Marks texts={checkedTexts(settled.texts)} evidence={shown.evidence} />
      <CommandPreview call={{ method: 'POST', path: '/v1/organization/evaluate', body: withDraft ?? base }} />
    </>
  )
}

/** The draft takes the place of the version in force. */
const policiesWith = (policyId: string): ('in_force' | { policy_id: string; use: 'draft' })[] => [
  'in_force',
  { policy_id: policyId, use: 'draft' },
]

type ComparisonProps = {
  readonly inForce: Evaluation
  readonly draft: Evaluation | undefined
  readonly draftName: string | undefined
}

/** One row a check, the verdict first; the draft beside what is in force. */
function Comparison({ inForce, draft, draftName }: ComparisonProps) {
  const sides = draft === undefined ? [inForce] : [inForce, draft]
  const rows = new Map(sides.flatMap(({ outcomes }) => outcomes.map((outcome) => [keyOf(outcome), outcome])))
  return (
    <div role="status">
      <table className={styles.table} aria-label={text.checks}>
        <thead>
          <tr>
            <th scope="col">{text.check}</th>
            <th scope="col">{text.inForce}</th>
            {draft && <th scope="col">{text.draftOf(draftName ?? '')}</th>}
          </tr>
        </thead>
        <tbody>
          <tr className={styles.verdict}>
            <th scope="row">{text.verdict}</th>
            {sides.map(({ verdict }, at) => (
              <td key={at}>
                <DecisionBadge decision={verdict.decision} isEnforced={verdict.enforced} />
              </td>
            ))}
          </tr>
          {[...rows].map(([key, { name, version, check, policy_id: policyId }]) => (
            <tr key={key}>
              <th scope="row" title={policyId ?? undefined}>
                {name ?? words.gateway.checks[check]} {version !== null && <small>v{version}</small>}
              </th>
              {sides.map(({ outcomes }, at) => (
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
