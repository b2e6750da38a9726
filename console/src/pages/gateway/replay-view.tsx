import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { errorOfField } from '../../api/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { decisionName } from '../../kit/decision-badge.tsx'
import { Field } from '../../kit/field.tsx'
import { count, time } from '../../kit/format.ts'
import { ErrorNotice, Notice } from '../../kit/notice.tsx'
import { ShortId } from '../../kit/short-id.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { useMay, useMe } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import {
  useBacktests,
  useCancelBacktest,
  useStartBacktest,
  type BacktestCreate,
  type GatewayBacktest,
  type GatewayConfig,
} from './queries.ts'
import styles from './replay-view.module.css'

const text = words.gateway.replay
const shared = words.policy.replay

const ranges = { '24h': 86_400, '7d': 604_800, '30d': 2_592_000 } as const
type Range = keyof typeof ranges
const limits = [1_000, 10_000, 100_000]
const fields = ['from', 'limit']

/** The configuration on the page, on recorded requests: what it would have changed. */
export function ReplayView({ config }: { readonly config: GatewayConfig }) {
  const { features } = useMe()
  const mayRead = useMay('content:read')
  const query = useBacktests()
  const start = useStartBacktest()
  const [shown] = query.data?.data ?? []
  const isOfPage = shown?.id === start.data?.id && JSON.stringify(start.variables?.config) === JSON.stringify(config)
  return (
    <div className={styles.view}>
      {!features.replay && <Notice tone="warning">{shared.noTexts}</Notice>}
      {!mayRead && <Notice tone="none">{shared.mayNotRead}</Notice>}
      <StartForm config={config} start={start} />
      {query.isPending && <LoadingRows widths={[160, 80, 120]} rows={3} />}
      {query.isError && <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && shown === undefined && (
        <EmptyState title={text.none}>
          <p>{text.noneText}</p>
        </EmptyState>
      )}
      {shown !== undefined && !isOfPage && (
        <Notice tone="none">{text.otherConfig(time(shown.created_at * 1_000))}</Notice>
      )}
      {shown !== undefined && <Shown backtest={shown} />}
    </div>
  )
}

type StartProps = { readonly config: GatewayConfig; readonly start: ReturnType<typeof useStartBacktest> }

function StartForm({ config, start }: StartProps) {
  const [range, setRange] = useState<Range>('7d')
  const [limit, setLimit] = useState(limits[0] ?? 0)
  const mayWrite = useMay('gateway:write')
  const mayRead = useMay('content:read')
  const body: BacktestCreate = { config, from: Math.floor(Date.now() / 60_000) * 60 - ranges[range], limit }
  const obstacle = !mayWrite ? words.gateway.mayNotWrite : mayRead ? undefined : shared.mayNotRead
  const isAtField = fields.some((field) => errorOfField(start.error, field) !== undefined)
  return (
    <Card title={text.title}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault()
          start.mutate(body)
        }}
      >
        <p className={styles.note}>{text.note}</p>
        <fieldset className={styles.fields} disabled={obstacle !== undefined}>
          <Field label={shared.range} error={errorOfField(start.error, 'from')}>
            {(props) => (
              <select {...props} value={range} onChange={({ target }) => setRange(target.value as Range)}>
                {Object.keys(ranges).map((name) => (
                  <option key={name} value={name}>
                    {words.range[name as Range]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={shared.limit} error={errorOfField(start.error, 'limit')}>
            {(props) => (
              <select {...props} value={limit} onChange={({ target }) => setLimit(Number(target.value))}>
                {limits.map((each) => (
                  <option key={each} value={each}>
                    {count(each)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Button look="primary" type="submit" disabled={obstacle !== undefined || start.isPending} title={obstacle}>
            {text.start}
          </Button>
        </fieldset>
        {start.isError && !isAtField && <ErrorNotice error={start.error} />}
        <CommandPreview call={{ method: 'POST', path: '/api/policy-gateway/config/backtest', body }} />
      </form>
    </Card>
  )
}

function Shown({ backtest }: { readonly backtest: GatewayBacktest }) {
  if (backtest.status === 'running') return <Progress backtest={backtest} />
  if (backtest.result === null)
    return <Notice tone={backtest.status === 'failed' ? 'error' : 'none'}>{backtest.error ?? shared.cancelled}</Notice>
  return <Result result={backtest.result} />
}

function Progress({ backtest }: { readonly backtest: GatewayBacktest }) {
  const { done, total } = backtest.progress
  const mayWrite = useMay('gateway:write')
  const cancel = useCancelBacktest()
  const label = shared.progress(count(done), count(total))
  return (
    <Card title={shared.running} note={label}>
      <div className={styles.progress}>
        <progress aria-label={label} value={done} max={Math.max(1, total)} />
        <Button disabled={!mayWrite || cancel.isPending} onClick={() => cancel.mutate(backtest.id)}>
          {shared.cancel}
        </Button>
      </div>
      {cancel.isError && <ErrorNotice error={cancel.error} />}
    </Card>
  )
}

type GatewayResult = NonNullable<GatewayBacktest['result']>
type Example = GatewayResult['example_requests'][number]
type ChangeCount = { readonly change: Example['change']; readonly requests: number }

const changes = [
  'newly_blocked',
  'newly_allowed',
  'newly_modified',
  'no_longer_modified',
  'changed_reason',
  'unchanged',
  'not_evaluated',
] as const

/** A sentence, the counts, and requests to look at. */
function Result({ result }: { readonly result: GatewayResult }) {
  const { coverage, example_requests: examples, not_evaluated_reasons: reasons } = result
  const { sampled, with_text: replayed, from_sample: fromSample } = coverage
  const left = sampled - replayed
  return (
    <>
      <Card isFlush title={shared.result}>
        <div className={styles.summary} role="status">
          <p>
            {text.sentence({
              replayed: count(replayed),
              denied: count(result.newly_blocked),
              allowed: count(result.newly_allowed),
              modified: count(result.newly_modified),
            })}
          </p>
          {fromSample > 0 && <p className={styles.note}>{shared.fromSample(count(fromSample))}</p>}
          {left > 0 && <p className={styles.note}>{text.left(count(left))}</p>}
          {reasons.map(({ reason, requests }) => (
            <p key={reason} className={styles.note}>
              {text.reasons(text.reasonNames[reason] ?? reason, count(requests))}
            </p>
          ))}
        </div>
        <DataTable
          label={shared.result}
          rows={changes.map((change): ChangeCount => ({ change, requests: result[change] }))}
          columns={countColumns}
          idOf={({ change }) => change}
        />
      </Card>
      {examples.length > 0 && (
        <Card isFlush title={shared.examples} note={shared.examplesNote}>
          <DataTable label={shared.examples} rows={examples} columns={exampleColumns} idOf={({ event_id: id }) => id} />
        </Card>
      )}
    </>
  )
}

const countColumns: readonly DataColumn<ChangeCount>[] = [
  { id: 'change', name: shared.change, cell: ({ change }) => text.changes[change] },
  { id: 'requests', name: text.count, isNumber: true, cell: ({ requests }) => count(requests) },
]

const exampleColumns: readonly DataColumn<Example>[] = [
  { id: 'request', name: shared.request, cell: (example) => <RequestLink example={example} /> },
  { id: 'change', name: shared.change, cell: ({ change }) => text.changes[change] },
  { id: 'recorded', name: text.recorded, priority: 2, cell: ({ recorded }) => decisionName(recorded) },
  { id: 'candidate', name: text.candidate, priority: 2, cell: ({ candidate }) => decisionName(candidate) },
]

function RequestLink({ example: { request_id: id, event_id: eventId } }: { readonly example: Example }) {
  const mayRead = useMay('audit:read')
  if (id === null) return <ShortId id={eventId} />
  if (!mayRead) return <ShortId id={id} />
  return (
    <Link to="/requests/$requestId" params={{ requestId: id }} title={id}>
      <code>{`${id.slice(0, 9)}…${id.slice(-6)}`}</code>
    </Link>
  )
}
