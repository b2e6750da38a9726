import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { use, useEffect, useRef, type ReactNode } from 'react'
import { useBudgetNames, useKeyNames, useProjectNames } from '../../api/names.ts'
import { useMayOpenRule } from '../../session/may-open-rule.ts'
import { useObjectTitle } from '../../session/title.ts'
import { useMay } from '../../session/session.tsx'
import { IconButton } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { curlOf } from '../../kit/curl.ts'
import { DecisionBadge } from '../../kit/decision-badge.tsx'
import { Drawer, DrawerButtons, DrawerFacts, DrawerSection } from '../../kit/drawer.tsx'
import { fullTime, milliseconds } from '../../kit/format.ts'
import { Outcomes } from '../../kit/outcomes.tsx'
import { isChecked } from '../../kit/request-summary.ts'
import { RequestSummary } from '../../kit/request-summary-line.tsx'
import { shortId, ShortId } from '../../kit/short-id.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { Timeline } from '../../kit/timeline.tsx'
import { words } from '../../words/en.ts'
import { AppealSection } from './appeal-section.tsx'
import { ExplanationPanel } from './explanation.tsx'
import { FixPanel } from './fix-panel.tsx'
import { MakeException } from './make-exception.tsx'
import { GatewayFixPanel } from './gateway-fix-panel.tsx'
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
  const mayOpen = useMayOpenRule()
  useObjectTitle(shortId(requestId))
  useEffect(() => {
    drawer.current?.scrollTo({ top: 0 })
  }, [requestId])
  return (
    <Drawer
      ref={drawer}
      label={text.label}
      bar={<Bar requestId={requestId} request={query.data} />}
      title={query.data && <RequestSummary request={query.data} mayOpen={mayOpen} />}
      lead={
        query.data && (
          <Link className={styles.playground} to="/playground" search={playgroundSearch(query.data)}>
            {words.playground.again.open}
          </Link>
        )
      }
    >
      {query.isPending && <LoadingRows widths={[90, 220, 60]} />}
      {query.isError && <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && <Detail request={query.data} />}
    </Drawer>
  )
}

type BarProps = { readonly requestId: string; readonly request: RequestDetail | undefined }

function Bar({ requestId, request }: BarProps) {
  const rows = use(RowsContext)
  const navigate = useNavigate()
  const at = rows.findIndex(({ id }) => id === requestId)
  const neighbour = (step: number) => (at < 0 ? undefined : rows[at + step])
  const go = (step: number): void => {
    const row = neighbour(step)
    if (row) void navigate({ to: '/requests/$requestId', params: { requestId: row.id }, search: true, replace: true })
  }
  return (
    <>
      {request && (
        <>
          <DecisionBadge
            decision={request.decision}
            isEnforced={request.is_enforced}
            isError={request.status === 'error'}
          />
          <time className={styles.time} dateTime={new Date(request.created_at_ms).toISOString()}>
            {fullTime(request.created_at_ms)}
          </time>
        </>
      )}
      <ShortId id={requestId} />
      <DrawerButtons>
        <IconButton isSmall icon="up" label={text.previous} disabled={!neighbour(-1)} onClick={() => go(-1)} />
        <IconButton isSmall icon="down" label={text.next} disabled={!neighbour(1)} onClick={() => go(1)} />
        <IconButton
          isSmall
          icon="close"
          label={words.common.close}
          onClick={() => void navigate({ to: '/requests', search: true })}
        />
      </DrawerButtons>
    </>
  )
}

/** The same request in the playground. Its texts are loaded there, if they are kept. */
const playgroundSearch = (request: RequestDetail) => ({
  dialect: request.dialect ?? undefined,
  model: request.model,
  project: request.project_id ?? undefined,
  stream: request.stream ? undefined : false,
  user: request.user_id ?? undefined,
  copy: request.id,
})

/** The way to a better rule: the one that decided is changed, and a new one is made where none did. */
function Repair({ request }: { readonly request: RequestDetail }) {
  const mayWrite = useMay('policies:write')
  const deciding = request.outcomes.find((outcome) => outcome.is_deciding)
  // A policy without a name is deleted.
  if (deciding?.check === 'policy' && deciding.name !== null)
    return (
      <>
        <FixPanel outcome={deciding} />
        <MakeException request={request} outcome={deciding} />
      </>
    )
  if (deciding?.check === 'gateway') return <GatewayFixPanel outcome={deciding} />
  if (deciding !== undefined || !mayWrite) return null
  return (
    <Link to="/policies" search={{ create: request.id }}>
      {text.createPolicy}
    </Link>
  )
}

type SwitchProps = { readonly model: string; readonly to: NonNullable<RequestDetail['model_switch']> }

/** The budget that chose another model. Its name is that of today. */
function ModelSwitch({ model, to: { requested_model: requested, budget_id: budgetId } }: SwitchProps) {
  const name = useBudgetNames(useMay('budgets:read')).get(budgetId)
  return (
    <DrawerSection title={words.budgets.ofRequest.switched}>
      <p className={styles.sentence}>
        {words.budgets.ofRequest.before(requested)}
        <Link to="/costs" search={{ view: 'budgets', budget: budgetId }} title={budgetId}>
          {name ?? shortId(budgetId)}
        </Link>
        {words.budgets.ofRequest.after(model)}
      </p>
    </DrawerSection>
  )
}

function Detail({ request }: { readonly request: RequestDetail }) {
  const { timeline, outcomes, receipt, proof, latency_ms: latencyMs } = request
  const projects = useProjectNames()
  const keys = useKeyNames()
  const mayOpen = useMayOpenRule()
  const projectId = request.project_id ?? words.common.none
  const keyId = request.api_key_id ?? words.common.none
  const facts: readonly (readonly [string, ReactNode])[] = [
    [words.requests.model, request.model],
    [words.requests.project, projects.get(projectId) ?? projectId],
    [words.requests.key, isFromPlayground(request) ? words.requests.playground : (keys.get(keyId) ?? keyId)],
    [words.requests.user, request.user_id ?? words.common.none],
    [words.requests.upstream, request.upstream ?? words.common.none],
    [text.classifier, request.classifier === null ? words.common.none : text.stages[request.classifier.stage]],
    ...Object.entries(request.tags).map(([name, value]) => [words.costs.tag(name), value] as const),
    [words.requests.dialect, `${request.dialect ?? request.operation}${request.stream ? ', stream' : ''}`],
  ]
  return (
    <>
      <DrawerFacts className={styles.facts} facts={facts} />
      {request.model_switch && <ModelSwitch model={request.model} to={request.model_switch} />}
      <DrawerSection title={text.timeline} note={latencyMs === null ? '' : text.total(milliseconds(latencyMs))}>
        <Timeline steps={timeline} totalMs={latencyMs} isStream={request.stream} />
      </DrawerSection>
      <DrawerSection title={text.outcomes} note={outcomes.length > 0 ? text.outcomesNote : ''}>
        <Outcomes outcomes={outcomes} isChecked={isChecked(request)} mayOpen={mayOpen} />
        <div className={styles.repair}>
          <Repair key={request.id} request={request} />
          <AppealSection key={`appeal ${request.id}`} request={request} />
        </div>
      </DrawerSection>
      {outcomes.some((outcome) => outcome.is_deciding) && (
        <DrawerSection title={text.explanation.title}>
          <ExplanationPanel key={request.id} request={request} />
        </DrawerSection>
      )}
      <DrawerSection title={text.texts.title}>
        <Texts key={request.id} request={request} />
      </DrawerSection>
      <div className={styles.two}>
        <DrawerSection title={text.receipt}>
          <ReceiptTable receipt={receipt} />
        </DrawerSection>
        <DrawerSection title={text.proof}>
          <Proof proof={proof} />
        </DrawerSection>
      </div>
      <DrawerSection title={words.common.asRequest}>
        <CodeBlock code={curlOf({ method: 'GET', path: `/v1/organization/requests/${request.id}` })} />
        <CodeBlock code={`gatehouse requests show ${request.id}`} />
      </DrawerSection>
    </>
  )
}
