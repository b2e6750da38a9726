import type { ReactNode } from 'react'
import type { ListQuery } from '../../api/use-list.ts'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { LoadMore } from '../../kit/load-more.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'

type ListProps<Row> = {
  readonly label: string
  readonly query: ListQuery<Row>
  readonly columns: readonly DataColumn<Row>[]
  /** The title if the rows could not be loaded. */
  readonly failed: string
  readonly empty: ReactNode
}

/** The rows of a list, or why there are none. */
export function List<Row extends { readonly id: string }>(props: ListProps<Row>): ReactNode {
  const { label, query, columns, failed, empty } = props
  if (query.isPending) return <LoadingRows widths={[140, 160, 80, 90, 60]} />
  if (query.isError && query.rows.length === 0)
    return <FailureState title={failed} error={query.error} onRetry={() => void query.refetch()} />
  if (query.rows.length === 0) return empty
  return (
    <>
      <DataTable label={label} rows={query.rows} columns={columns} idOf={({ id }) => id} />
      <LoadMore query={query} />
    </>
  )
}
