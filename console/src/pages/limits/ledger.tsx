import { Link, useNavigate } from '@tanstack/react-router'
import { useState, type SubmitEvent } from 'react'
import { useProjectNames, type Names } from '../../api/names.ts'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { ExportMenu } from '../../kit/export-menu.tsx'
import { Field } from '../../kit/field.tsx'
import { count, fullTime, time } from '../../kit/format.ts'
import { LoadMore } from '../../kit/load-more.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import { words } from '../../words/en.ts'
import { useLedger, type LedgerEntry } from './queries.ts'
import { ledgerKinds, type LimitsSearch } from './search.ts'
import { SubjectSelect } from './subject-select.tsx'
import styles from './page.module.css'

const text = words.limits

/** Every change of the balance, newest first: grants, payments, corrections, and the charge of each request. */
export function LedgerView({ search }: { readonly search: LimitsSearch }) {
  const { kind, project_id: projectId, request_id: requestId } = search
  const filter = { kind, project_id: projectId, request_id: requestId }
  const ledger = useLedger(filter)
  const { from, to } = timeRangeOf(useTimeRangeSearch(), Date.now())
  const projects = useProjectNames()
  const { rows } = ledger
  return (
    <>
      <LedgerFilters search={search} />
      {ledger.isPending && <LoadingRows widths={[120, 60, 80, 200]} />}
      {ledger.isError && (
        <FailureState title={text.ledgerFailed} error={ledger.error} onRetry={() => void ledger.refetch()} />
      )}
      {ledger.isSuccess && rows.length === 0 && (
        <EmptyState title={text.ledgerNone}>
          <p>{text.ledgerNoneText}</p>
          <div className={styles.snippet}>
            <CodeBlock code="gatehouse credits ledger" />
          </div>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Card
          title={text.views.ledger}
          note={
            <>
              {text.entries(count(rows.length), ledger.hasNextPage)}{' '}
              <ExportMenu path="/v1/organization/credits/ledger/export" query={{ ...filter, from, to }} />
            </>
          }
          isFlush
        >
          <DataTable label={text.views.ledger} rows={rows} columns={columnsOf(projects)} idOf={({ id }) => id} />
        </Card>
      )}
      <LoadMore query={ledger} />
      <div className={styles.snippet}>
        <p className={styles.quiet}>{text.verify}</p>
        <CodeBlock code="gatehouse ledger verify" />
      </div>
    </>
  )
}

const columnsOf = (projects: Names): readonly DataColumn<LedgerEntry>[] => [
  {
    id: 'time',
    name: text.time,
    cell: ({ created_at: at }) => <span title={fullTime(at * 1_000)}>{time(at * 1_000)}</span>,
  },
  { id: 'kind', name: text.kind, cell: ({ kind }) => text.kinds[kind] },
  { id: 'credits', name: text.amount, isNumber: true, cell: ({ credits }) => signed(credits) },
  {
    id: 'reference',
    name: text.reference,
    cell: ({ ref, receipt }) =>
      receipt === null ? (
        ref
      ) : (
        <Link to="/requests/$requestId" params={{ requestId: receipt.request_id }}>
          {receipt.request_id}
        </Link>
      ),
  },
  {
    id: 'project',
    name: text.project,
    priority: 2,
    cell: ({ receipt }) => (receipt ? (projects.get(receipt.project_id) ?? receipt.project_id) : words.common.none),
  },
  { id: 'model', name: text.model, priority: 2, cell: ({ receipt }) => receipt?.model ?? words.common.none },
  { id: 'tokens', name: text.tokens, isNumber: true, priority: 3, cell: ({ receipt }) => count(tokensOf(receipt)) },
  { id: 'note', name: text.note, priority: 3, cell: ({ note }) => note || words.common.none },
]

const signed = (credits: number): string =>
  `${credits > 0 ? '+' : ''}${credits.toLocaleString(undefined, { maximumFractionDigits: 4 })}`

const tokensOf = (receipt: LedgerEntry['receipt']): number | undefined =>
  receipt === null
    ? undefined
    : receipt.input_tokens + receipt.cache_read_tokens + receipt.cache_write_tokens + receipt.output_tokens

function LedgerFilters({ search }: { readonly search: LimitsSearch }) {
  const navigate = useNavigate()
  const [requestId, setRequestId] = useState(search.request_id ?? '')
  const set = (changed: LimitsSearch): void =>
    void navigate({ to: '/limits', search: (before: object) => ({ ...before, ...changed }), replace: true })
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    set({ request_id: requestId.trim() || undefined })
  }
  return (
    <form className={styles.bar} onSubmit={submit}>
      <Field label={text.kind}>
        {(input) => (
          <select
            {...input}
            value={search.kind ?? ''}
            onChange={(event) => set({ kind: ledgerKinds.find((kind) => kind === event.target.value) })}
          >
            <option value="">{text.allKinds}</option>
            {ledgerKinds.map((kind) => (
              <option key={kind} value={kind}>
                {text.kinds[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={text.project}>
        {(input) => (
          <SubjectSelect
            input={input}
            of="project"
            none={text.allProjects}
            value={search.project_id}
            onChange={(id) => set({ project_id: id })}
          />
        )}
      </Field>
      <Field label={text.requestId}>
        {(input) => (
          <input
            {...input}
            placeholder={text.requestIdHint}
            value={requestId}
            onChange={(event) => setRequestId(event.target.value)}
            onBlur={submitIfChanged(search.request_id, requestId, set)}
          />
        )}
      </Field>
    </form>
  )
}

const submitIfChanged = (before: string | undefined, typed: string, set: (changed: LimitsSearch) => void) => () => {
  const requestId = typed.trim() || undefined
  if (requestId !== before) set({ request_id: requestId })
}
