import type { ReactNode } from 'react'
import type { ListQuery } from '../../api/use-list.ts'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { LoadMore } from '../../kit/load-more.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'

type ListProps<Row> = {
  readonly label: string
  readonly query: ListQuery<Row>
  readonly columns: readonly DataColumn<Row>[]
  readonly empty: ReactNode
}

/** The rows of a list, or why there are none. */
export function List<Row extends { readonly id: string }>({ label, query, columns, empty }: ListProps<Row>): ReactNode {
  if (query.isPending) return <LoadingRows widths={[160, 90, 140, 80, 60]} />
  if (query.isError && query.rows.length === 0)
    return <FailureState title={words.alerts.failed} error={query.error} onRetry={() => void query.refetch()} />
  if (query.rows.length === 0) return empty
  return (
    <>
      <DataTable label={label} rows={query.rows} columns={columns} idOf={({ id }) => id} />
      <LoadMore query={query} />
    </>
  )
}
