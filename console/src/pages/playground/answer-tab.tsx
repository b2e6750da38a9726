import { useMayOpenRule } from '../../session/may-open-rule.ts'
import { useMay } from '../../session/session.tsx'
import { Badge } from '../../kit/badge.tsx'
import { Notice } from '../../kit/notice.tsx'
import { SummaryText } from '../../kit/request-summary-line.tsx'
import { words } from '../../words/en.ts'
import type { Answer } from './answer.ts'
import { Facts } from './facts.tsx'
import { useSentRequest, type RequestDetail } from './queries.ts'
import type { Run } from './use-run.ts'
import styles from './result-card.module.css'

const text = words.playground

/** Error codes of a request that a check denied. */
const denials = new Set<string | undefined>(['policy_blocked', 'moderation_blocked'])

type AnswerProps = {
  readonly name: string
  readonly run: Run | undefined
  readonly isRunning: boolean
  readonly requestId: string | undefined
}

/** The answer as it comes, or what denied it. */
export function AnswerTab({ name, run, isRunning, requestId }: AnswerProps) {
  const mayRead = useMay('audit:read')
  const { data: detail } = useSentRequest(mayRead ? requestId : undefined)
  if (run === undefined && detail === undefined)
    return <p className={styles.note}>{isRunning ? text.waiting : text.noAnswer}</p>
  const { parts = [], stopReason } = run?.answer ?? {}
  const isDenied = detail?.status === 'denied'
  return (
    <>
      <Problem answer={run?.answer} denied={isDenied ? detail : undefined} />
      <AnswerParts name={name} parts={parts} isRunning={isRunning} />
      {run === undefined && !isDenied && <p className={styles.note}>{text.textGone}</p>}
      {stopReason !== undefined && !isDenied && <p className={styles.note}>{text.stopReason(stopReason)}</p>}
      {detail && <Facts detail={detail} />}
    </>
  )
}

type ProblemProps = { readonly answer: Answer | undefined; readonly denied: RequestDetail | undefined }

/** The rule that denied the request or its answer; before the log is read, the words of the server. */
function Problem({ answer, denied }: ProblemProps) {
  const mayOpen = useMayOpenRule()
  const { problem } = answer ?? {}
  const code = problem?.code === undefined ? null : <code>{problem.code}</code>
  if (denied)
    return (
      <Notice tone="deny">
        <SummaryText request={denied} mayOpen={mayOpen} /> {code}
      </Notice>
    )
  if (problem === undefined) return null
  return (
    <Notice tone={denials.has(problem.code) ? 'deny' : 'error'}>
      {problem.message} {code}
    </Notice>
  )
}

type PartsProps = { readonly name: string; readonly parts: Answer['parts']; readonly isRunning: boolean }

export const AnswerParts = ({ name, parts, isRunning }: PartsProps) => (
  <div className={styles.answer} role="log" aria-label={name} aria-busy={isRunning}>
    {parts.map(({ kind, name: tool, text: content }, at) => (
      <div key={at} className={styles.part} data-kind={kind}>
        {kind !== 'text' && <Badge tone="none">{kind === 'tool' ? text.toolCall(tool ?? '') : text.thinking}</Badge>}
        <p>{content}</p>
      </div>
    ))}
  </div>
)
