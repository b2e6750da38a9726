import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { useKeyNames, useProjectNames } from '../../api/names.ts'
import { serverUrl } from '../../api/client.ts'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { chosenColumns } from './columns.tsx'
import { FilterBar } from './filter-bar.tsx'
import { Histogram } from './histogram.tsx'
import { useRequests, type RequestRow } from './queries.ts'
import { RequestTable } from './request-table.tsx'
import { RowsContext } from './rows-context.ts'
import { filtersOf, type RequestSearch } from './search.ts'
import { useNewRequests } from './use-new-requests.ts'
import { useRowKeys } from './use-row-keys.ts'
import styles from './page.module.css'

const text = words.requests

/** Every request with its decision, and the open one beside it. The address holds the filters and the open request. */
export function RequestsPage() {
  const search: RequestSearch = useSearch({ from: '/requests' })
  const { requestId } = useParams({ strict: false })
  const navigate = useNavigate()
  const filters = useMemo(() => filtersOf(search), [search])
  const query = useRequests(filters)
  const rows = useMemo(() => query.data?.pages.flatMap(({ data }) => data) ?? [], [query.data])
  const names = { projects: useProjectNames(), keys: useKeyNames() }
  const open = useCallback(
    (row: RequestRow) => void navigate({ to: '/requests/$requestId', params: { requestId: row.id }, search: true }),
    [navigate],
  )
  const close = useCallback(() => void navigate({ to: '/requests', search: true }), [navigate])
  useRowKeys({ rows, selectedId: requestId, onOpen: open, onClose: close })
  const newCount = useNewRequests(filters, query.dataUpdatedAt)
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])

  return (
    <div className={styles.split} data-open={requestId !== undefined}>
      <section className={styles.list} aria-label={words.pages.requests}>
        <FilterBar search={search} names={names} onReload={() => void query.refetch()} newCount={newCount} />
        <Histogram />
        {query.isPending && <LoadingRows widths={[64, 72, 180, 90, 48]} rows={16} />}
        {query.isError && rows.length === 0 && (
          <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />
        )}
        {query.isSuccess && rows.length === 0 && <NoRequests isFiltered={Object.keys(filters).length > 0} />}
        {rows.length > 0 && (
          <RequestTable
            rows={rows}
            columns={chosenColumns(search.columns)}
            names={names}
            selectedId={requestId}
            onOpen={open}
            onEnd={loadMore}
          />
        )}
        <footer className={styles.foot}>
          <span>{text.shown(rows.length, !hasNextPage)}</span>
          <span className={styles.quiet}>{isFetchingNextPage ? text.more : text.newestFirst}</span>
          <span className={styles.keys}>
            <kbd>J</kbd>
            <kbd>K</kbd> {text.move} <kbd>Enter</kbd> {text.open}
          </span>
        </footer>
      </section>
      <RowsContext value={rows}>
        <Outlet />
      </RowsContext>
    </div>
  )
}

function NoRequests({ isFiltered }: { readonly isFiltered: boolean }) {
  const navigate = useNavigate()
  if (isFiltered)
    return (
      <EmptyState
        title={text.noMatch}
        actions={<Button onClick={() => void navigate({ to: '/requests', search: {} })}>{text.clearFilters}</Button>}
      />
    )
  return (
    <EmptyState title={text.noneYet}>
      <p>{text.noneYetText}</p>
      <p>{text.noneYetAction}</p>
      <div className={styles.snippet}>
        <CodeBlock code={firstRequest} />
      </div>
    </EmptyState>
  )
}

const firstRequest = [
  `curl ${serverUrl}/v1/messages \\`,
  `  -H "x-api-key: $GATEHOUSE_API_KEY" -H 'content-type: application/json' \\`,
  `  -d '{"model":"…","max_tokens":100,"messages":[{"role":"user","content":"Hello"}]}'`,
].join('\n')
