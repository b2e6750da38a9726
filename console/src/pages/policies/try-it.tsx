import { useState } from 'react'
import { useMay, useMe } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { DecisionBadge, toneOf } from '../../kit/decision-badge.tsx'
import { Field } from '../../kit/field.tsx'
import { count } from '../../kit/format.ts'
import { ErrorNotice } from '../../kit/notice.tsx'
import { Score } from '../../kit/score.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { words } from '../../words/en.ts'
import { CaseDialog } from './case-dialog.tsx'
import { contentOf, isSame, type PolicyContent, type PolicyForm } from './content.ts'
import { EvidenceText } from './evidence-text.tsx'
import { useEvaluation, type Evaluation, type EvaluationRequest, type Policy } from './queries.ts'
import { useDebounced } from '../../kit/use-debounced.ts'
import areas from './edit-tab.module.css'
import styles from './try-it.module.css'

const text = words.policy

type TryProps = { readonly policy: Policy; readonly form: PolicyForm }
const directions = ['request', 'response'] as const
type Direction = (typeof directions)[number]

/** A text, and what the form would decide about it, beside what is in force. */
export function TryIt({ policy, form }: TryProps) {
  const [sample, setSample] = useState('')
  const [chosen, setDirection] = useState<Direction>()
  const [isSaving, setSaving] = useState(false)
  const mayTry = useMay('gateway:read')
  const mayWrite = useMay('policies:write')
  const direction = form.direction === 'both' ? (chosen ?? 'request') : form.direction
  return (
    <Card title={text.tryIt} note={form.direction !== 'both' && text.directions[form.direction]}>
      {mayTry ? (
        <div className={styles.pane}>
          {form.direction === 'both' && (
            <Segmented
              label={text.tryAs}
              options={directions}
              nameOf={(each) => (each === 'request' ? text.tryRequest : text.tryResponse)}
              value={direction}
              onChange={setDirection}
            />
          )}
          <Field label={text.tryText} hint={text.tryHint}>
            {({ className, ...props }) => (
              <textarea
                {...props}
                className={`${className} ${areas.area}`}
                rows={4}
                value={sample}
                onChange={(event) => setSample(event.target.value)}
              />
            )}
          </Field>
          <Results policy={policy} form={form} sample={sample} direction={direction} />
          {mayWrite && sample !== '' && (
            <div>
              <Button isSmall onClick={() => setSaving(true)}>
                {text.cases.fromSample}
              </Button>
            </div>
          )}
          {isSaving && (
            <CaseDialog policy={policy} initial={{ text: sample, direction }} onClose={() => setSaving(false)} />
          )}
        </div>
      ) : (
        <p>{text.mayNotTry}</p>
      )}
    </Card>
  )
}

type ResultsProps = TryProps & { readonly sample: string; readonly direction: Direction }

function Results({ policy, form, sample, direction }: ResultsProps) {
  const { features } = useMe()
  const [judged, setJudged] = useState<string>()
  const settled = useDebounced({ form, sample, direction })
  const isJudgeAsked = judged === JSON.stringify(settled)
  const { published } = policy
  const draft = useEvaluation(requestOf(settled, { policy: contentOf(settled.form), isJudgeAsked }))
  const isSameAsPublished = published !== null && isSame(contentOf(published), contentOf(settled.form))
  const inForce = useEvaluation(
    published === null || isSameAsPublished
      ? undefined
      : requestOf(settled, { policy: contentOf(published), isJudgeAsked }),
  )
  if (settled.sample.trim() === '') return <p className={styles.note}>{text.noText}</p>
  if (draft.isError) return <ErrorNotice error={draft.error} />
  if (draft.data === undefined) return null
  const needsJudge = features.judge && outcomeOf(draft.data)?.not_evaluated === 'judge_not_asked'
  return (
    <>
      <ul className={styles.results} aria-live="polite">
        <Result name={text.draft} evaluation={draft.data} />
        {published !== null && !isSameAsPublished && inForce.data !== undefined && (
          <Result name={text.version(published.version)} evaluation={inForce.data} />
        )}
      </ul>
      {needsJudge && (
        <p className={styles.note}>
          <Button onClick={() => setJudged(JSON.stringify(settled))}>{text.askJudge}</Button> {text.askJudgeNote}
        </p>
      )}
      <EvidenceText text={settled.sample} evidence={draft.data.evidence.filter(({ check }) => check === 'policy')} />
    </>
  )
}

type Evaluated = { readonly policy: PolicyContent; readonly isJudgeAsked: boolean }

/** The policy alone: with other checks beside it, one that denies first would leave it unevaluated. */
function requestOf(
  { sample, direction }: Pick<ResultsProps, 'sample' | 'direction'>,
  { policy, isJudgeAsked }: Evaluated,
): EvaluationRequest | undefined {
  if (sample.trim() === '' || policy.rule.trim() === '') return undefined
  const [project] = policy.scope === 'projects' ? policy.project_ids : []
  const scenario = { text: sample, direction, ...(project !== undefined && { project_id: project }) }
  return { gateway: {}, policies: [policy], judge: isJudgeAsked, scenario }
}

const outcomeOf = ({ outcomes }: Evaluation) => outcomes.find(({ check }) => check === 'policy')

function Result({ name, evaluation }: { readonly name: string; readonly evaluation: Evaluation }) {
  const outcome = outcomeOf(evaluation)
  if (outcome === undefined) return null
  const { decision, enforced: isEnforced, score_bp: score, threshold_bp: threshold, not_evaluated: reason } = outcome
  const isRecordedOnly = !isEnforced && decision === 'refuse'
  return (
    <li>
      <span className={styles.name}>{name}</span>
      <DecisionBadge decision={decision} isEnforced={isEnforced} />
      {score !== null && (
        <>
          <Score score={score} threshold={threshold} tone={toneOf({ decision, isEnforced })} />
          <span className={styles.number} title={text.score}>
            {count(score)}
            <small> / {count(threshold)}</small>
          </span>
        </>
      )}
      {reason !== null && <span className={styles.reason}>{text.notEvaluated(reason)}</span>}
      {isRecordedOnly && <span className={styles.reason}>{text.wouldMatch}</span>}
    </li>
  )
}
