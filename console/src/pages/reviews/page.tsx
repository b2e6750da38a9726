import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Badge } from '../../kit/badge.tsx'
import { fullTime } from '../../kit/format.ts'
import { Segmented } from '../../kit/segmented.tsx'
import { EmptyState, FailureState, LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { AppealPanel } from './appeal-panel.tsx'
import { useAppeals, type Appeal } from './queries.ts'
import type { ReviewsSearch } from './search.ts'
import { stateTones } from './tones.ts'
import styles from './page.module.css'

const text = words.reviews
const filters = ['open', 'all'] as const

/** The queue of appeals, and the one that is reviewed. Without one in the address, the first of the queue. */
export function ReviewsPage() {
  const search: ReviewsSearch = useSearch({ from: '/reviews' })
  const navigate = useNavigate({ from: '/reviews' })
  const show = search.show ?? 'open'
  const query = useAppeals(show)
  const rows = query.data ?? []
  const selectedId = search.appeal ?? rows[0]?.id
  return (
    <section className={styles.page} aria-label={text.title}>
      <div className={styles.bar}>
        <Segmented
          label={text.show}
          options={filters}
          nameOf={(filter) => text.filters[filter]}
          value={show}
          onChange={(filter) => void navigate({ search: { show: filter === 'all' ? 'all' : undefined } })}
        />
      </div>
      {query.isPending && <LoadingRows widths={[120, 240, 80]} rows={4} />}
      {query.isError && <FailureState title={text.failed} error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && selectedId === undefined && (
        <EmptyState title={show === 'open' ? text.none : text.noneAtAll}>
          <p>{text.noneText}</p>
        </EmptyState>
      )}
      {query.data && selectedId !== undefined && (
        <div className={styles.columns}>
          <Queue rows={rows} selectedId={selectedId} />
          <AppealPanel
            key={selectedId}
            id={selectedId}
            onResolve={() => void navigate({ search: (kept) => ({ ...kept, appeal: selectedId }), replace: true })}
            onNext={() => void navigate({ search: ({ show: kept }) => ({ show: kept }) })}
          />
        </div>
      )}
    </section>
  )
}

function Queue({ rows, selectedId }: { readonly rows: readonly Appeal[]; readonly selectedId: string }) {
  return (
    <nav className={styles.queue} aria-label={text.queue}>
      <ul>
        {rows.map(({ id, state, policy, opened_at: openedAt, needs_third: needsThird }) => (
          <li key={id}>
            <Link
              to="/reviews"
              search={(before: ReviewsSearch) => ({ ...before, appeal: id })}
              className={styles.row}
              aria-current={id === selectedId ? 'true' : undefined}
            >
              <strong>{policy?.name ?? policy?.id ?? text.noPolicy}</strong>
              <span className={styles.faint}>{text.opened(fullTime(openedAt * 1000))}</span>
              {needsThird && <Badge tone="warning">{text.needsThirdShort}</Badge>}
              {state !== 'open' && <Badge tone={stateTones[state]}>{text.states[state]}</Badge>}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
