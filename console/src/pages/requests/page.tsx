import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { useKeyNames, useProjectNames } from '../../api/names.ts'
import { count } from '../../kit/format.ts'
import { serverUrl } from '../../api/client.ts'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { chosenColumns, type CellFilter, type CellMinimum } from './columns.tsx'
import { FilterBar } from './filter-bar.tsx'
import { Histogram } from './histogram.tsx'
import { useRequests, useRequestTotal, type RequestRow } from './queries.ts'
import { RequestTable } from './request-table.tsx'
import { RowsContext } from './rows-context.ts'
import { addingValue, filtersOf, type RequestSearch } from './search.ts'
import { useFilterOptions } from './use-filter-options.ts'
import { useNewRequests } from './use-new-requests.ts'
import { useRowKeys } from './use-row-keys.ts'
import styles from './page.module.css'

export { RequestDrawer } from './request-drawer.tsx'

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
  const options = useFilterOptions(rows)
  // Known before the page is drawn again, so that keys in quick succession move on from the request that was opened last.
  const openId = useRef(requestId)
  useEffect(() => {
    openId.current = requestId
  }, [requestId])
  const open = useCallback(
    (row: RequestRow) => {
      // From one request to the next there is no entry in the history, so that Back closes the request.
      const replace = openId.current !== undefined
      openId.current = row.id
      void navigate({ to: '/requests/$requestId', params: { requestId: row.id }, search: true, replace })
    },
    [navigate],
  )
  const filterBy = (filter: CellFilter | CellMinimum, isNot: boolean): void => {
    const changed = 'field' in filter ? addingValue(search, { ...filter, isNot }) : { [filter.minimum]: filter.value }
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...changed }) })
  }
  const close = useCallback(() => void navigate({ to: '/requests', search: true }), [navigate])
  useRowKeys({ rows, openId, onOpen: open, onClose: close })
  const newCount = useNewRequests(filters, query.dataUpdatedAt)
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query
  const total = useRequestTotal(filters, hasNextPage)
  const reload = (): void => void Promise.all([query.refetch(), ...(hasNextPage ? [total.refetch()] : [])])
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])

  return (
    <div className={styles.split} data-open={requestId !== undefined}>
      <section className={styles.list} aria-label={words.pages.requests}>
        <FilterBar search={search} options={options} onReload={reload} newCount={newCount} />
        <Histogram search={search} />
        {query.isPending && <LoadingRows widths={[64, 72, 180, 90, 48]} rows={16} />}
        {query.isError && rows.length === 0 && (
          <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />
        )}
        {query.isSuccess && rows.length === 0 && !hasNextPage && (
          <NoRequests isFiltered={Object.keys(filters).length > 0} />
        )}
        {query.isSuccess && rows.length === 0 && hasNextPage && (
          <EmptyState
            title={text.notFoundYet}
            actions={
              <Button disabled={isFetchingNextPage} onClick={loadMore}>
                {isFetchingNextPage ? text.more : text.searchOn}
              </Button>
            }
          >
            <p>{text.notFoundYetText}</p>
          </EmptyState>
        )}
        {rows.length > 0 && (
          <RequestTable
            rows={rows}
            columns={chosenColumns(search.columns)}
            names={names}
            selectedId={requestId}
            onOpen={open}
            onFilter={filterBy}
            onEnd={loadMore}
          />
        )}
        <footer className={styles.foot}>
          <Total shown={rows.length} hasMore={hasNextPage} total={total.data ?? null} />
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

type TotalProps = {
  readonly shown: number
  readonly hasMore: boolean
  readonly total: { readonly total: number; readonly isExact: boolean } | null
}

/** How many requests match; until that is known, how many are loaded. */
function Total({ shown, hasMore, total }: TotalProps) {
  const number = hasMore && total !== null ? Math.max(total.total, shown) : shown
  const isExact = !hasMore || total?.isExact === true
  return <span>{text.total(count(number), isExact, number === 1)}</span>
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
