import { count } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import { metrics, shareOf, toneOfShare, type ScopeLimits } from './closest.ts'
import { Share } from '../../kit/share.tsx'
import styles from './scopes.module.css'

const text = words.limits

/** What is used of each limit of a scope. */
export function ScopeBars({ limits }: { readonly limits: ScopeLimits }) {
  return (
    <dl className={styles.bars}>
      {metrics.map((metric) => {
        const limit = limits[metric]
        const share = limit === null ? 0 : shareOf(limit)
        return (
          <div key={metric}>
            <dt>
              {text.metrics[metric]}
              <span>
                {limit === null ? text.noLimit : text.used(count(limit.limit - limit.remaining), count(limit.limit))}
              </span>
            </dt>
            <dd>{limit !== null && <Share share={share} tone={toneOfShare(share)} />}</dd>
          </div>
        )
      })}
    </dl>
  )
}
