import { Link } from '@tanstack/react-router'
import { useKeyNames } from '../../api/names.ts'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, percent } from '../../kit/format.ts'
import { LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { closestOf, toneOfShare, type Closest } from './closest.ts'
import { useLimitsOfBusiestKeys } from './queries.ts'
import { Share } from '../../kit/share.tsx'
import pageStyles from './page.module.css'

const text = words.limits

type Row = Closest & { readonly id: string; readonly name: string }

/** The busiest keys, the one closest to one of its own limits first. */
export function ClosestCard() {
  const names = useKeyNames()
  const { limits, isPending } = useLimitsOfBusiestKeys()
  const rows = limits
    .flatMap(([id, { scopes }]): Row[] => {
      const closest = closestOf(scopes.key)
      return closest === undefined ? [] : [{ ...closest, id, name: names.get(id) ?? id }]
    })
    .toSorted((left, right) => right.share - left.share)
  return (
    <Card title={text.closest} note={text.closestNote} isFlush>
      {isPending && <LoadingRows widths={[100, 140, 60]} rows={3} />}
      {!isPending && rows.length === 0 && <p className={pageStyles.flush}>{text.closestNone}</p>}
      {rows.length > 0 && <DataTable label={text.closest} rows={rows} columns={columns} idOf={({ id }) => id} />}
    </Card>
  )
}

const columns: readonly DataColumn<Row>[] = [
  {
    id: 'key',
    name: text.key,
    cell: ({ id, name }) => (
      <Link to="/limits" search={(before: object) => ({ ...before, project_id: undefined, api_key_id: id })}>
        {name}
      </Link>
    ),
  },
  { id: 'limit', name: text.limit, cell: ({ metric }) => text.metrics[metric] },
  {
    id: 'share',
    name: text.share,
    priority: 2,
    cell: ({ share }) => <Share share={share} tone={toneOfShare(share)} />,
  },
  {
    id: 'used',
    name: text.usage,
    isNumber: true,
    cell: ({ limit, remaining, share }) => (
      <span title={text.used(count(limit - remaining), count(limit))}>{percent(share)}</span>
    ),
  },
]
