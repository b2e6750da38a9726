import { useMayOpenRule } from '../../session/may-open-rule.ts'
import { useMay, useMe } from '../../session/session.tsx'
import { Card } from '../../kit/card.tsx'
import { dollars, milliseconds } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { SummaryText } from '../../kit/request-summary-line.tsx'
import { words } from '../../words/en.ts'
import { AnswerParts } from './answer-tab.tsx'
import { policiesOf } from './comparison.ts'
import { responseScenario, scenarioOf } from './draft.ts'
import { isDenial, summarized } from './evaluation-summary.ts'
import { FactList, tokensOf } from './facts.tsx'
import { useEvaluation, useSentRequest, type Evaluation } from './queries.ts'
import type { NamedSide } from './sides.ts'
import type { useRun } from './use-run.ts'
import { VerdictBadge } from './verdict-badge.tsx'
import styles from './result-card.module.css'

const text = words.playground.evaluated

type EvaluatedProps = {
  readonly side: NamedSide
  readonly running: ReturnType<typeof useRun>
  readonly requestId: string | undefined
}

/**
 * What other rules decide about the request that was sent and its response. Only one request is sent: two responses of a
 * model differ anyway, which would hide what the rules change.
 */
export function EvaluatedCard({ side, running, requestId }: EvaluatedProps) {
  const { request, response, isPending, error } = useEvaluations(side, running)
  const mayRead = useMay('audit:read')
  const { data: detail } = useSentRequest(mayRead && !running.isRunning ? requestId : undefined)
  const { run, isRunning } = running
  const isDenied = request !== undefined && isDenial(request.verdict.effective_decision)
  const parts = run?.answer.parts ?? []
  const isAnswerDenied = response !== undefined && isDenial(response.verdict.effective_decision)
  return (
    <Card title={side.name} note={text.note}>
      <div className={styles.result}>
        {error !== null && <ErrorNotice error={error} />}
        {request === undefined ? (
          <p className={styles.note}>{isRunning || isPending ? text.checking : text.send}</p>
        ) : (
          <>
            <Decided side={side} request={request} response={response} />
            {!isDenied && !isAnswerDenied && (
              <AnswerParts name={`${words.playground.tabs.answer}: ${side.name}`} parts={parts} isRunning={isRunning} />
            )}
            <FactList
              badge={<VerdictBadge evaluation={isDenied ? request : (response ?? request)} />}
              facts={[
                [words.requests.tokens, isDenied ? text.notSent : detail ? tokensOf(detail) : words.common.none],
                [words.requests.cost, isDenied ? dollars(0) : dollars(detail?.cost_usd ?? null)],
                [text.checked, words.playground.inMs(milliseconds(timeOf(request) + timeOf(response)))],
              ]}
            />
          </>
        )}
      </div>
    </Card>
  )
}

const timeOf = (evaluation: Evaluation | undefined): number => evaluation?.timings.evaluation_ms ?? 0

/** Both texts of the request that was sent last, with the rules of this side. */
function useEvaluations({ rules, model }: NamedSide, { run, isRunning, sent }: EvaluatedProps['running']) {
  const { features } = useMe()
  const rest = { policies: policiesOf(rules), judge: features.judge }
  const settings = sent && { ...sent.settings, model }
  const request = useEvaluation(
    sent && settings && { ...rest, scenario: scenarioOf(settings, sent.texts, sent.search) },
    'sent',
  )
  const answer = run?.answer.parts.map((part) => part.text).join('\n') ?? ''
  const isComplete = sent !== undefined && !isRunning && answer !== ''
  const response = useEvaluation(
    isComplete && settings ? { ...rest, scenario: responseScenario(answer, settings, sent.search) } : undefined,
    'sent',
  )
  return {
    request: request.data,
    response: isComplete ? response.data : undefined,
    isPending: sent !== undefined && request.isPending,
    error: request.error ?? response.error,
  }
}

type DecidedProps = {
  readonly side: NamedSide
  readonly request: Evaluation
  readonly response: Evaluation | undefined
}

/** The sentence: of the request if it is denied, else of the response. */
function Decided({ side, request, response }: DecidedProps) {
  const mayOpen = useMayOpenRule()
  const isDenied = isDenial(request.verdict.effective_decision)
  const deciding = !isDenied && response !== undefined ? response : request
  const direction = deciding === response ? ('response' as const) : ('request' as const)
  const { decision, effective_decision: effective } = deciding.verdict
  if (decision !== 'allow')
    return (
      <Notice tone={isDenial(effective) ? 'deny' : 'none'}>
        <SummaryText request={summarized(deciding, { model: side.model, direction })} mayOpen={mayOpen} />
      </Notice>
    )
  return (
    <p className={styles.note}>{response === undefined ? `${text.requestAllowed} ${text.noResponse}` : text.allowed}</p>
  )
}
