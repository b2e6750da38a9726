import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { use, useEffect, useRef, type ReactNode } from 'react'
import { useKeyNames, useProjectNames } from '../../api/names.ts'
import { useMay } from '../../session/session.tsx'
import { IconButton } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { curlOf } from '../../kit/curl.ts'
import { DecisionBadge } from '../../kit/decision-badge.tsx'
import { fullTime, milliseconds } from '../../kit/format.ts'
import { Outcomes } from '../../kit/outcomes.tsx'
import { summaryOf } from '../../kit/request-summary.ts'
import { ShortId } from '../../kit/short-id.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { Timeline } from '../../kit/timeline.tsx'
import { words } from '../../words/en.ts'
import { Proof } from './proof.tsx'
import { isFromPlayground, useRequest, type RequestDetail } from './queries.ts'
import { ReceiptTable } from './receipt.tsx'
import { RowsContext } from './rows-context.ts'
import { Texts } from './texts.tsx'
import styles from './request-drawer.module.css'

const text = words.request

/** One request: what happened in a sentence, then its timeline, outcomes, receipt and proof. */
export function RequestDrawer() {
  const { requestId } = useParams({ from: '/requests/$requestId' })
  const query = useRequest(requestId)
  const drawer = useRef<HTMLElement>(null)
  useEffect(() => {
    drawer.current?.scrollTo({ top: 0 })
  }, [requestId])
  return (
    <aside ref={drawer} className={styles.drawer} aria-label={text.label}>
      <Head requestId={requestId} request={query.data} />
      {query.isPending && <LoadingRows widths={[90, 220, 60]} />}
      {query.isError && <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && <Detail request={query.data} />}
    </aside>
  )
}

type HeadProps = { readonly requestId: string; readonly request: RequestDetail | undefined }

function Head({ requestId, request }: HeadProps) {
  const rows = use(RowsContext)
  const navigate = useNavigate()
  const at = rows.findIndex(({ id }) => id === requestId)
  const neighbour = (step: number) => (at < 0 ? undefined : rows[at + step])
  const go = (step: number): void => {
    const row = neighbour(step)
    if (row) void navigate({ to: '/requests/$requestId', params: { requestId: row.id }, search: true })
  }
  return (
    <header className={styles.head}>
      <div className={styles.bar}>
        {request && (
          <>
            <DecisionBadge
              decision={request.decision}
              isEnforced={request.is_enforced}
              isError={request.status === 'error'}
            />
            <time dateTime={new Date(request.created_at_ms).toISOString()}>{fullTime(request.created_at_ms)}</time>
          </>
        )}
        <ShortId id={requestId} />
        <span className={styles.buttons}>
          <IconButton isSmall icon="up" label={text.previous} disabled={!neighbour(-1)} onClick={() => go(-1)} />
          <IconButton isSmall icon="down" label={text.next} disabled={!neighbour(1)} onClick={() => go(1)} />
          <IconButton
            isSmall
            icon="close"
            label={words.common.close}
            onClick={() => void navigate({ to: '/requests', search: true })}
          />
        </span>
      </div>
      {request && (
        <>
          <p className={styles.summary}>{summaryOf(request)}</p>
          <Link className={styles.playground} to="/playground" search={playgroundSearch(request)}>
            {words.playground.openFrom}
          </Link>
        </>
      )}
    </header>
  )
}

/** The same request in the playground. Its text is loaded there, if it is kept. */
const playgroundSearch = (request: RequestDetail) => ({
  dialect: request.dialect ?? undefined,
  model: request.model,
  project: request.project_id ?? undefined,
  stream: request.stream ? undefined : false,
  user: request.user_id ?? undefined,
  copy: request.is_content_kept ? request.id : undefined,
})

function Detail({ request }: { readonly request: RequestDetail }) {
  const { timeline, outcomes, receipt, proof, latency_ms: latencyMs } = request
  const projects = useProjectNames()
  const keys = useKeyNames()
  const mayWrite = useMay('policies:write')
  const projectId = request.project_id ?? words.common.none
  const keyId = request.api_key_id ?? words.common.none
  const facts: readonly (readonly [string, ReactNode])[] = [
    [words.requests.model, request.model],
    [words.requests.project, projects.get(projectId) ?? projectId],
    [words.requests.key, isFromPlayground(request) ? words.requests.playground : (keys.get(keyId) ?? keyId)],
    [words.requests.user, request.user_id ?? words.common.none],
    [words.requests.upstream, request.upstream ?? words.common.none],
    [text.classifier, request.classifier === null ? words.common.none : text.stages[request.classifier.stage]],
    [words.requests.dialect, `${request.dialect ?? request.operation}${request.stream ? ', stream' : ''}`],
  ]
  return (
    <>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Section title={text.timeline} note={latencyMs === null ? '' : text.total(milliseconds(latencyMs))}>
        <Timeline steps={timeline} totalMs={latencyMs} />
      </Section>
      <Section title={text.outcomes} note={outcomes.length > 0 ? text.outcomesNote : ''}>
        <Outcomes outcomes={outcomes} isChecked={request.decision !== 'not_evaluated'} />
        {mayWrite && (
          <Link to="/policies" search={{ create: request.id }}>
            {text.createPolicy}
          </Link>
        )}
      </Section>
      <Section title={text.texts.title}>
        <Texts key={request.id} request={request} />
      </Section>
      <div className={styles.two}>
        <Section title={text.receipt}>
          <ReceiptTable receipt={receipt} />
        </Section>
        <Section title={text.proof}>
          <Proof proof={proof} />
        </Section>
      </div>
      <Section title={words.common.asRequest}>
        <CodeBlock code={curlOf({ method: 'GET', path: `/v1/organization/requests/${request.id}` })} />
        <CodeBlock code={`gatehouse requests show ${request.id}`} />
      </Section>
    </>
  )
}

type SectionProps = { readonly title: string; readonly note?: string; readonly children: ReactNode }

const Section = ({ title, note, children }: SectionProps) => (
  <section className={styles.section}>
    <header>
      <h2>{title}</h2>
      <span>{note}</span>
    </header>
    {children}
  </section>
)
