import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useMayOpenRule } from '../../session/may-open-rule.ts'
import { useInferenceUrl, useMay } from '../../session/session.tsx'
import { Badge } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DecisionBadge } from '../../kit/decision-badge.tsx'
import { count, dollars, milliseconds } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { Outcomes } from '../../kit/outcomes.tsx'
import { RequestSummary } from '../../kit/request-summary-line.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { LoadingRows } from '../../kit/state.tsx'
import { TabLinks } from '../../kit/tab-links.tsx'
import { Timeline } from '../../kit/timeline.tsx'
import { words } from '../../words/en.ts'
import type { Settings } from './draft.ts'
import { useSentRequest, type RequestDetail } from './queries.ts'
import { tabs, type PlaygroundSearch } from './search.ts'
import { languages, snippetOf, type Language } from './snippets.ts'
import type { Run, useRun } from './use-run.ts'
import styles from './result-card.module.css'

const text = words.playground

type ResultProps = {
  readonly running: ReturnType<typeof useRun>
  readonly settings: Settings
  readonly body: Readonly<Record<string, unknown>>
  readonly search: PlaygroundSearch
}

/** The answer as it comes, what the log says about the request, its raw events, and the request as code. */
export function ResultCard({ running, settings, body, search }: ResultProps) {
  const { run, isRunning, error } = running
  const tab = search.tab ?? 'answer'
  const requestId = isRunning ? undefined : search.request
  return (
    <Card title={text.result} note={isRunning ? text.running : undefined}>
      <TabLinks
        isInCard
        label={text.result}
        tabs={tabs.map((each) => ({
          name: text.tabs[each],
          link: {
            to: '.',
            replace: true,
            search: (before: object) => ({ ...before, tab: each === 'answer' ? undefined : each }),
          },
        }))}
      />
      <div className={styles.result}>
        {error !== null && <ErrorNotice error={error} />}
        {tab === 'answer' && <AnswerTab run={run} isRunning={isRunning} requestId={requestId} />}
        {tab === 'verdict' && <VerdictTab requestId={requestId} isRunning={isRunning} />}
        {tab === 'events' && <EventsTab run={run} />}
        {tab === 'code' && <CodeTab settings={settings} body={body} />}
      </div>
    </Card>
  )
}

/** Error codes of a request that a check denied. */
const denials = new Set<string | undefined>(['policy_blocked', 'moderation_blocked'])

type AnswerProps = {
  readonly run: Run | undefined
  readonly isRunning: boolean
  readonly requestId: string | undefined
}

function AnswerTab({ run, isRunning, requestId }: AnswerProps) {
  const mayRead = useMay('audit:read')
  const { data: detail } = useSentRequest(mayRead ? requestId : undefined)
  if (run === undefined && detail === undefined)
    return <p className={styles.note}>{isRunning ? text.waiting : text.noAnswer}</p>
  const { parts = [], problem, stopReason } = run?.answer ?? {}
  return (
    <>
      {problem && (
        <Notice tone={denials.has(problem.code) ? 'deny' : 'error'}>
          {problem.message} {problem.code !== undefined && <code>{problem.code}</code>}
        </Notice>
      )}
      <div className={styles.answer} role="log" aria-label={text.tabs.answer} aria-busy={isRunning}>
        {parts.map(({ kind, name, text: content }, at) => (
          <div key={at} className={styles.part} data-kind={kind}>
            {kind !== 'text' && (
              <Badge tone="none">{kind === 'tool' ? text.toolCall(name ?? '') : text.thinking}</Badge>
            )}
            <p>{content}</p>
          </div>
        ))}
      </div>
      {run === undefined && <p className={styles.note}>{text.textGone}</p>}
      {stopReason !== undefined && <p className={styles.note}>{text.stopReason(stopReason)}</p>}
      {detail && <Facts detail={detail} />}
    </>
  )
}

/** What the request cost, and the way to it in the log. */
function Facts({ detail }: { readonly detail: RequestDetail }) {
  const facts: readonly (readonly [string, string])[] = [
    [words.requests.tokens, tokensOf(detail)],
    [words.requests.cost, dollars(detail.cost_usd)],
    [text.took, text.inMs(milliseconds(detail.latency_ms))],
    [words.requests.upstream, detail.upstream ?? words.common.none],
  ]
  return (
    <div className={styles.facts}>
      <DecisionBadge decision={detail.decision} isEnforced={detail.is_enforced} isError={detail.status === 'error'} />
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Link to="/requests/$requestId" params={{ requestId: detail.id }}>
        {text.openRequest}
      </Link>
    </div>
  )
}

const tokensOf = ({ input_tokens: input, output_tokens: output }: RequestDetail): string =>
  input === null ? words.common.none : `${count(input)} + ${count(output)}`

type VerdictProps = { readonly requestId: string | undefined; readonly isRunning: boolean }

function VerdictTab({ requestId, isRunning }: VerdictProps) {
  const mayRead = useMay('audit:read')
  const mayOpen = useMayOpenRule()
  const { data, isError, isPending } = useSentRequest(mayRead ? requestId : undefined)
  if (!mayRead) return <p className={styles.note}>{text.mayNotRead}</p>
  if (requestId === undefined) return <p className={styles.note}>{isRunning ? text.waiting : text.noVerdict}</p>
  if (isError) return <p className={styles.note}>{text.notLogged}</p>
  if (isPending || data === undefined) return <LoadingRows widths={[90, 220, 60]} rows={4} />
  return (
    <>
      <div className={styles.summary}>
        <RequestSummary request={data} mayOpen={mayOpen} />
      </div>
      <Timeline steps={data.timeline} totalMs={data.latency_ms} />
      <h3>{words.request.outcomes}</h3>
      <Outcomes outcomes={data.outcomes} isChecked={data.decision !== 'not_evaluated'} mayOpen={mayOpen} />
      <Facts detail={data} />
    </>
  )
}

function EventsTab({ run }: { readonly run: Run | undefined }) {
  if (run === undefined) return <p className={styles.note}>{text.noEvents}</p>
  return (
    <>
      <p className={styles.note}>{text.eventCount(run.status, run.events.length)}</p>
      <pre className={styles.events} tabIndex={0} aria-label={text.tabs.events}>
        {run.events.map(({ name, data }) => (name === undefined ? data : `event: ${name}\ndata: ${data}`)).join('\n\n')}
      </pre>
    </>
  )
}

function CodeTab({ settings, body }: Pick<ResultProps, 'settings' | 'body'>) {
  const [language, setLanguage] = useState<Language>('curl')
  const url = useInferenceUrl()
  return (
    <>
      <Segmented
        label={text.tabs.code}
        options={languages}
        nameOf={(each) => text.languages[each][settings.dialect]}
        value={language}
        onChange={setLanguage}
      />
      <CodeBlock code={snippetOf(language, { url, settings, body })} />
      <p className={styles.note}>{text.codeNote}</p>
    </>
  )
}
