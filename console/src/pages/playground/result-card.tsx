import { useState } from 'react'
import { useMayOpenRule } from '../../session/may-open-rule.ts'
import { useInferenceUrl, useMay } from '../../session/session.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { Outcomes } from '../../kit/outcomes.tsx'
import { isChecked } from '../../kit/request-summary.ts'
import { RequestSummary } from '../../kit/request-summary-line.tsx'
import { Segmented } from '../../kit/segmented.tsx'
import { LoadingRows } from '../../kit/state.tsx'
import { TabLinks } from '../../kit/tab-links.tsx'
import { Timeline } from '../../kit/timeline.tsx'
import { words } from '../../words/en.ts'
import { AnswerTab } from './answer-tab.tsx'
import type { Settings } from './draft.ts'
import { Facts } from './facts.tsx'
import { useSentRequest } from './queries.ts'
import { tabs, type PlaygroundSearch } from './search.ts'
import { languages, snippetOf, type Language } from './snippets.ts'
import type { Run, useRun } from './use-run.ts'
import styles from './result-card.module.css'

const text = words.playground

type ResultProps = {
  /** The name of the side, if two are compared. */
  readonly name: string | undefined
  readonly running: ReturnType<typeof useRun>
  readonly requestId: string | undefined
  readonly settings: Settings
  readonly body: Readonly<Record<string, unknown>>
  readonly search: PlaygroundSearch
}

/** The answer as it comes, what the log says about the request, its raw events, and the request as code. */
export function ResultCard({ name, running, settings, body, search, ...props }: ResultProps) {
  const { run, isRunning, error } = running
  const tab = search.tab ?? 'answer'
  const requestId = isRunning ? undefined : props.requestId
  const answerName = name === undefined ? text.tabs.answer : `${text.tabs.answer}: ${name}`
  return (
    <Card title={name ?? text.result} note={isRunning ? text.running : undefined}>
      <TabLinks
        isInCard
        label={name === undefined ? text.result : `${text.result}: ${name}`}
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
        {tab === 'answer' && <AnswerTab name={answerName} run={run} isRunning={isRunning} requestId={requestId} />}
        {tab === 'verdict' && <VerdictTab requestId={requestId} isRunning={isRunning} />}
        {tab === 'events' && <EventsTab run={run} />}
        {tab === 'code' && <CodeTab settings={settings} body={body} />}
      </div>
    </Card>
  )
}

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
      <Timeline steps={data.timeline} totalMs={data.latency_ms} isStream={data.stream} />
      <h3>{words.request.outcomes}</h3>
      <Outcomes outcomes={data.outcomes} isChecked={isChecked(data)} mayOpen={mayOpen} />
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
