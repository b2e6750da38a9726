import type { ReactNode } from 'react'
import type { ListQuery } from '../../api/use-list.ts'
import { Button } from '../../kit/button.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import styles from './page.module.css'

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
      {query.hasNextPage && (
        <div className={styles.more}>
          <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {words.members.loadMore}
          </Button>
        </div>
      )}
    </>
  )
}
