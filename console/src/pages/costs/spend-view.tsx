import { Link, type LinkProps } from '@tanstack/react-router'
import { useState } from 'react'
import { serverUrl } from '../../api/client.ts'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { command } from '../../kit/command.ts'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { sumOfBars } from '../../kit/decision-bars.ts'
import { save } from '../../kit/export-menu.tsx'
import { count, day, dollars, percent, shortCount, shortDollars } from '../../kit/format.ts'
import { Share } from '../../kit/share.tsx'
import { Legend, StackedBars, Swatch, TimeAxis } from '../../kit/stacked-bars.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { useMe } from '../../session/session.tsx'
import { timeRangeOf, useTimeRangeSearch } from '../../session/time-range.ts'
import { words } from '../../words/en.ts'
import { costsPath, useSpend, type Spend } from './queries.ts'
import { barsOf, isFree, plainGroups, restId, seriesOf, spendersOf, type Spender, type SpendGroup } from './spend.ts'
import styles from './spend.module.css'

const text = words.costs

/** What requests cost by day, and who spends most. */
export function SpendView({ by }: { readonly by: string | undefined }) {
  const { tags } = useMe()
  const groups: readonly SpendGroup[] = [...plainGroups, ...tags.map((name) => `tag:${name}`)]
  const group = groups.find((each) => each === by) ?? 'project'
  const spend = useSpend(group)
  const isEmpty = spend.data?.groups.total.requests === 0
  return (
    <div className={styles.content}>
      <Card
        title={text.byDay}
        note={
          <span className={styles.tools}>
            <GroupLinks groups={groups} group={group} />
            <Download group={group} />
          </span>
        }
      >
        {spend.isPending && <LoadingRows widths={[120, 240, 60]} rows={5} />}
        {spend.isError && <FailureState title={text.failed} error={spend.error} onRetry={() => void spend.refetch()} />}
        {isEmpty && <NoSpend />}
        {spend.data && !isEmpty && <SpendOf key={group} spend={spend.data} />}
      </Card>
    </div>
  )
}

type GroupProps = { readonly groups: readonly SpendGroup[]; readonly group: SpendGroup }

const GroupLinks = ({ groups, group }: GroupProps) => (
  <nav className={styles.groups} aria-label={text.by}>
    {groups.map((by) => (
      <Link
        key={by}
        to="/costs"
        search={(before: object) => ({ ...before, by })}
        aria-current={by === group ? 'true' : undefined}
      >
        {groupName(by)}
      </Link>
    ))}
  </nav>
)

function groupName(group: SpendGroup): string {
  const plain = plainGroups.find((each) => each === group)
  return plain === undefined ? text.tag(group.slice('tag:'.length)) : text.groups[plain]
}

/** The server writes the file, with all groups and days. */
function Download({ group }: { readonly group: SpendGroup }) {
  const search = useTimeRangeSearch()
  const download = (): void => {
    const { from, to } = timeRangeOf(search, Date.now())
    save(costsPath, { from, to, group_by: `${group},day`, limit: 5_000, format: 'csv' })
  }
  return (
    <Button isSmall look="ghost" icon="download" onClick={download}>
      {text.exportCsv}
    </Button>
  )
}

function SpendOf({ spend: { group, groups, days } }: { readonly spend: Spend }) {
  const [active, setActive] = useState<number>()
  const spenders = spendersOf(groups, group)
  const series = seriesOf(spenders)
  const bars = barsOf(days, group, series)
  const shown = active === undefined ? undefined : bars[active]
  const inRequests = isFree(groups)
  const amountOf = inRequests ? count : dollars
  const [from, to] = [groups.from, groups.to]
  return (
    <>
      <p className={styles.total}>
        {inRequests
          ? text.totalRequests(count(groups.total.requests))
          : text.total(dollars(groups.total.cost_usd), count(groups.total.requests))}
      </p>
      <StackedBars
        label={inRequests ? text.requestsChart : text.chart}
        bars={bars}
        series={series}
        height={140}
        {...(!inRequests && { amountOf: shortDollars })}
        active={active}
        onActive={setActive}
      />
      {shown ? <p className={styles.day}>{day(shown.startMs)}</p> : <TimeAxis bars={bars} />}
      <Legend series={series} sums={shown?.values ?? sumOfBars(bars)} amountOf={amountOf} />
      <div className={styles.table}>
        <DataTable label={text.spenders} rows={spenders} columns={columnsOf(group)} idOf={({ id }) => id} />
      </div>
      <CommandPreview
        call={{
          method: 'GET',
          path: `${costsPath}?from=${from}&to=${to}&group_by=${group}`,
          command: command('costs', { by: group, from: isoTime(from), to: isoTime(to) }),
        }}
      />
    </>
  )
}

const isoTime = (seconds: number): string => new Date(seconds * 1_000).toISOString()

const columnsOf = (group: SpendGroup): readonly DataColumn<Spender>[] => [
  {
    id: 'name',
    name: groupName(group),
    cell: (spender) => (
      <span className={styles.spender}>
        <Swatch tone={spender.tone} />
        <SpenderName spender={spender} group={group} />
      </span>
    ),
  },
  { id: 'bar', name: text.share, priority: 2, cell: ({ share }) => <Share share={share} /> },
  { id: 'share', name: text.percent, isNumber: true, priority: 2, cell: ({ share }) => percent(share) },
  { id: 'requests', name: text.requests, isNumber: true, cell: ({ requests }) => count(requests) },
  { id: 'tokens', name: text.tokens, isNumber: true, priority: 2, cell: ({ tokens }) => shortCount(tokens) },
  { id: 'cost', name: text.cost, isNumber: true, cell: ({ cost }) => dollars(cost) },
]

const filterOf = { project: 'project_id', key: 'api_key_id', model: 'model', user: 'user_id' } as const

/** Requests cannot be filtered by tag. */
function SpenderName({ spender: { id, name }, group }: { readonly spender: Spender; readonly group: SpendGroup }) {
  const plain = plainGroups.find((each) => each === group)
  if (plain === undefined || id === '' || id === restId) return <span title={name}>{name}</span>
  const link: LinkProps = { to: '/requests', search: { [filterOf[plain]]: id } }
  return (
    <Link {...link} title={name}>
      {name}
    </Link>
  )
}

const NoSpend = () => (
  <EmptyState title={text.none}>
    <p>{text.noneText}</p>
    <div className={styles.snippet}>
      <CodeBlock
        code={`curl ${serverUrl}/v1/messages -H "x-api-key: $GATEHOUSE_API_KEY" -H 'content-type: application/json' -d '{"model":"…","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'`}
      />
    </div>
  </EmptyState>
)
