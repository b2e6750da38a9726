import { Link, type LinkProps } from '@tanstack/react-router'
import { useState } from 'react'
import { serverUrl } from '../../api/client.ts'
import { useKeyNames, useProjectNames } from '../../api/names.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, dollars, percent, shortCount, time } from '../../kit/format.ts'
import { StackedBars, TimeAxis } from '../../kit/stacked-bars.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { useUsage, useUsageSteps, type GroupedUsage } from './queries.ts'
import { useGroups, type UseGroup } from './search.ts'
import { Share } from '../../kit/share.tsx'
import { saveFile, usageCsv } from './use-csv.ts'
import { barsOf, usersOf, type User } from './use.ts'
import pageStyles from './page.module.css'
import styles from './spending.module.css'

const text = words.limits

/** Who uses how much: a chart over the time range, and a table with the largest first. */
export function UseCard({ group }: { readonly group: UseGroup }) {
  const usage = useUsage(group)
  const file = useUsageSteps(group, (steps) => saveFile(`usage-by-${group}.csv`, usageCsv(steps)))
  return (
    <Card
      title={text.use}
      note={
        <span className={styles.tools}>
          <GroupLinks group={group} />
          {usage.data && (
            <Button isSmall look="ghost" icon="download" disabled={file.isPending} onClick={() => file.mutate()}>
              {text.exportCsv}
            </Button>
          )}
        </span>
      }
    >
      {usage.isPending && <LoadingRows widths={[120, 240, 60]} rows={5} />}
      {usage.isError && <FailureState title={text.failed} error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.data?.groups.data.length === 0 && <NoUse />}
      {usage.data && usage.data.groups.data.length > 0 && <UseOf usage={usage.data} group={group} />}
    </Card>
  )
}

const GroupLinks = ({ group }: { readonly group: UseGroup }) => (
  <nav className={styles.groups} aria-label={text.by}>
    {useGroups.map((by) => (
      <Link
        key={by}
        to="/limits"
        search={(before: object) => ({ ...before, by })}
        aria-current={by === group ? 'true' : undefined}
      >
        {text.groups[by]}
      </Link>
    ))}
  </nav>
)

const series = [{ id: 'use', name: text.use, tone: 'none' as const }]

function UseOf({ usage, group }: { readonly usage: GroupedUsage; readonly group: UseGroup }) {
  const [active, setActive] = useState<number>()
  const names = { projects: useProjectNames(), keys: useKeyNames() }
  const users = usersOf(usage.groups, group, names)
  const bars = barsOf(usage.course)
  const shown = active === undefined ? undefined : bars[active]
  const first = users[0]
  const isPaid = first !== undefined && first.cost > 0
  return (
    <>
      {first && (
        <p className={styles.most}>
          {isPaid ? text.spendsMost(first.name, dollars(first.cost)) : text.usesMost(first.name, percent(first.share))}
        </p>
      )}
      <StackedBars label={text.useChart} bars={bars} series={series} height={90} active={active} onActive={setActive} />
      {shown ? (
        <p className={pageStyles.quiet}>
          {time(shown.startMs)}: {count(shown.values['use'] ?? 0)} {isPaid ? text.credits : text.requests.toLowerCase()}
        </p>
      ) : (
        <TimeAxis bars={bars} />
      )}
      <div className={styles.table}>
        <DataTable label={text.use} rows={users} columns={columnsOf(group)} idOf={({ id }) => id} />
      </div>
    </>
  )
}

const columnsOf = (group: UseGroup): readonly DataColumn<User>[] => [
  {
    id: 'name',
    name: text.groups[group],
    cell: ({ id, name }) => (id === '' ? name : <Link {...requestsOf(group, id)}>{name}</Link>),
  },
  { id: 'share', name: text.share, priority: 2, cell: ({ share }) => <Share share={share} /> },
  { id: 'requests', name: text.requests, isNumber: true, cell: ({ requests }) => count(requests) },
  { id: 'tokens', name: text.tokens, isNumber: true, priority: 2, cell: ({ tokens }) => shortCount(tokens) },
  { id: 'cost', name: text.cost, isNumber: true, cell: ({ cost }) => dollars(cost) },
]

const filterOf = { project: 'project_id', api_key: 'api_key_id', model: 'model', user: 'user_id' } as const

const requestsOf = (group: UseGroup, id: string): LinkProps => ({
  to: '/requests',
  search: { [filterOf[group]]: id },
})

const NoUse = () => (
  <EmptyState title={text.noUse}>
    <p>{text.noUseText}</p>
    <div className={pageStyles.snippet}>
      <CodeBlock
        code={`curl ${serverUrl}/v1/messages -H "x-api-key: $GATEHOUSE_API_KEY" -H 'content-type: application/json' -d '{"model":"…","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'`}
      />
    </div>
  </EmptyState>
)
