import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Badge } from '../../kit/badge.tsx'
import { fullTime, time } from '../../kit/format.ts'
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
/** An appeal that expires this soon is marked. */
const soonDays = 3

const daysUntil = (seconds: number): number => Math.max(0, Math.floor((seconds * 1_000 - Date.now()) / 86_400_000))

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
        <EmptyState
          title={show === 'open' ? text.none : text.noneAtAll}
          actions={
            <Link to="/requests" search={{ decision: 'refuse' }}>
              {text.noneAction}
            </Link>
          }
        >
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
        {rows.map(
          ({ id, state, policy, direction, opened_at: openedAt, expires_at: expiresAt, needs_third: needsThird }) => (
            <li key={id}>
              <Link
                to="/reviews"
                search={(before: ReviewsSearch) => ({ ...before, appeal: id })}
                className={styles.row}
                aria-current={id === selectedId ? 'true' : undefined}
              >
                <strong>{policy?.name ?? policy?.id ?? text.noPolicy}</strong>
                <time
                  className={styles.faint}
                  dateTime={new Date(openedAt * 1000).toISOString()}
                  title={fullTime(openedAt * 1000)}
                >
                  {text.opened(text.directions[direction], time(openedAt * 1000))}
                </time>
                {state === 'open' && daysUntil(expiresAt) <= soonDays && (
                  <Badge tone="warning">{text.expiresIn(daysUntil(expiresAt))}</Badge>
                )}
                {needsThird && <Badge tone="warning">{text.needsThirdShort}</Badge>}
                {state !== 'open' && <Badge tone={stateTones[state]}>{text.states[state]}</Badge>}
              </Link>
            </li>
          ),
        )}
      </ul>
    </nav>
  )
}
