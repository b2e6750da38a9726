import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, fullTime, shortCount, time } from '../../kit/format.ts'
import { LoadMore } from '../../kit/load-more.tsx'
import { Sparkline } from '../../kit/sparkline.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { CreatePolicy } from './create.tsx'
import { useGate } from './gate-queries.ts'
import { GateSettingsDialog } from './gate-settings-dialog.tsx'
import { usePolicies, type PolicySummary } from './queries.ts'
import { policyScopes, policyStates, type PoliciesPageSearch, type PoliciesSearch } from './search.ts'
import { useDebounced } from '../../kit/use-debounced.ts'
import { StateBadge } from './state-badge.tsx'
import styles from './page.module.css'

const text = words.policies

/** Every policy with its state. The address holds the filters. */
export function PoliciesPage() {
  const { create, ...filters }: PoliciesPageSearch = useSearch({ from: '/policies' })
  const navigate = useNavigate()
  const query = usePolicies(useDebounced({ search: filters.search, state: filters.state, scope: filters.scope }))
  const setCreate = (from: string | undefined): void =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, create: from }), replace: create !== undefined })
  const rows = query.data?.pages.flatMap(({ data }) => data) ?? []
  const isFiltered = [filters.search, filters.state, filters.scope].some((value) => value !== undefined)
  return (
    <div className={styles.page}>
      <FilterBar filters={filters} onCreate={() => setCreate('blank')} />
      {query.isPending && <LoadingRows widths={[200, 80, 60, 120]} />}
      {query.isError && rows.length === 0 && (
        <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isSuccess && rows.length === 0 && (
        <NoPolicies isFiltered={isFiltered} onCreate={() => setCreate('blank')} />
      )}
      {rows.length > 0 && (
        <DataTable label={words.pages.policies} rows={rows} columns={columns} idOf={({ id }) => id} />
      )}
      <LoadMore query={query} />
      {create !== undefined && <CreatePolicy from={create} onFrom={setCreate} onClose={() => setCreate(undefined)} />}
    </div>
  )
}

const columns: readonly DataColumn<PolicySummary>[] = [
  {
    id: 'name',
    name: text.name,
    cell: ({ id, name, description }) => (
      <Link to="/policies/$policyId" params={{ policyId: id }} title={description || id}>
        {name}
      </Link>
    ),
  },
  { id: 'state', name: text.state, cell: ({ state }) => <StateBadge state={state} /> },
  {
    id: 'scope',
    name: words.policy.scope,
    priority: 3,
    cell: ({ scope }) => (scope === undefined ? words.common.none : text.scopes[scope]),
  },
  { id: 'matches', name: text.matches, priority: 2, cell: ({ stats }) => <Matches stats={stats} /> },
  {
    id: 'denials',
    name: text.denials,
    isNumber: true,
    priority: 2,
    cell: ({ stats }) => count(stats?.denials_24h),
  },
  {
    id: 'version',
    name: text.version,
    priority: 2,
    cell: ({ current_version: version }) => (version === null ? words.common.none : words.policy.version(version)),
  },
  {
    id: 'changes',
    name: text.changes,
    priority: 2,
    cell: ({ has_unpublished_changes: isChanged }) => (isChanged ? text.unpublished : words.common.none),
  },
  {
    id: 'updated',
    name: text.updated,
    priority: 3,
    cell: ({ updated_at: at }) => <span title={fullTime(at * 1_000)}>{time(at * 1_000)}</span>,
  },
]

/** How often the rule matched in the last day, and its course. */
function Matches({ stats }: { readonly stats: PolicySummary['stats'] | undefined }) {
  if (stats === undefined || stats.requests_24h === 0) return words.common.none
  const { matches_24h: matches, matches_by_hour: hours, requests_24h: requests } = stats
  return (
    <span className={styles.matches} title={text.matchesOf(count(matches), count(requests))}>
      <Sparkline values={hours} />
      {shortCount(matches)}
    </span>
  )
}

type BarProps = { readonly filters: PoliciesSearch; readonly onCreate: () => void }

function FilterBar({ filters, onCreate }: BarProps) {
  const navigate = useNavigate()
  const mayWrite = useMay('policies:write')
  const set = (changed: Record<string, string>): void => {
    const values = Object.fromEntries(Object.entries(changed).map(([name, value]) => [name, value || undefined]))
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...values }), replace: true })
  }
  return (
    <div className={styles.bar}>
      <input
        type="search"
        aria-label={text.search}
        placeholder={text.search}
        value={filters.search ?? ''}
        onChange={(event) => set({ search: event.target.value })}
      />
      <select
        aria-label={text.state}
        value={filters.state ?? ''}
        onChange={(event) => set({ state: event.target.value })}
      >
        <option value="">{text.anyState}</option>
        {policyStates.map((state) => (
          <option key={state} value={state}>
            {text.states[state]}
          </option>
        ))}
      </select>
      <select
        aria-label={words.policy.scope}
        value={filters.scope ?? ''}
        onChange={(event) => set({ scope: event.target.value })}
      >
        <option value="">{text.anyScope}</option>
        {policyScopes.map((scope) => (
          <option key={scope} value={scope}>
            {text.scopes[scope]}
          </option>
        ))}
      </select>
      <span className={styles.actions}>
        <OrganizationGate />
        <Button
          look="primary"
          icon="plus"
          disabled={!mayWrite}
          title={mayWrite ? undefined : text.mayNotWrite}
          onClick={onCreate}
        >
          {text.create}
        </Button>
      </span>
    </div>
  )
}

/** Opens the publish gate of the organization, for keys that may change it. */
function OrganizationGate() {
  const [isOpen, setOpen] = useState(false)
  const { data: gate } = useGate(undefined)
  if (!useMay('policies:override')) return null
  return (
    <>
      <Button disabled={gate === undefined} onClick={() => setOpen(true)}>
        {words.gate.ofOrganization}
      </Button>
      {isOpen && gate && <GateSettingsDialog policyId={undefined} gate={gate} onClose={() => setOpen(false)} />}
    </>
  )
}

function NoPolicies({ isFiltered, onCreate }: { readonly isFiltered: boolean; readonly onCreate: () => void }) {
  const navigate = useNavigate()
  const mayWrite = useMay('policies:write')
  if (isFiltered)
    return (
      <EmptyState
        title={text.noMatch}
        actions={<Button onClick={() => void navigate({ to: '/policies', search: {} })}>{text.clear}</Button>}
      />
    )
  return (
    <EmptyState title={text.noneYet} actions={mayWrite && <Button onClick={onCreate}>{text.create}</Button>}>
      <p>{text.noneYetText}</p>
      <div className={styles.snippet}>
        <CodeBlock code={text.noneYetCommand} />
      </div>
    </EmptyState>
  )
}
