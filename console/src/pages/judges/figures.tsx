import { count, dollars, milliseconds, percent } from '../../kit/format.ts'
import { Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { problemOf } from './problem.ts'
import type { Judge } from './queries.ts'
import styles from './page.module.css'

const text = words.judges

export type Figured = NonNullable<Judge['calibration']>

/** Self-agreement comes first, because without it the rest says nothing. Without answers there is no rest. */
export function Figures({ calibration }: { readonly calibration: Figured }) {
  const { failures } = calibration
  const problem = problemOf(calibration)
  const failed = [text.failedOf, text.ofAll(failures.found, failures.of)] as const
  return (
    <>
      {problem !== undefined && <Notice tone="deny">{text.problems[problem]}</Notice>}
      <dl className={styles.figures}>
        {[...(calibration.labels === 0 ? [] : rowsOf(calibration)), failed].map(([name, value, hint]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value} {hint !== undefined && <span className={styles.hint}>{hint}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
}

type Row = readonly [name: string, value: string, hint?: string]

function rowsOf(calibration: Figured): readonly Row[] {
  const { kappa, injections } = calibration
  return [
    [
      text.labels,
      text.bySource(count(calibration.by_source.cases.labels), count(calibration.by_source.appeals.labels)),
    ],
    [text.selfAgreement, bounded(calibration.self_agreement)],
    [text.kappa, kappa === null ? words.common.none : kappa.toFixed(2), text.kappaHint],
    [text.baseRate, share(calibration.base_rate_bp)],
    [text.agreement, share(calibration.agreement_bp)],
    [text.found, bounded(calibration.true_positives)],
    [text.passed, bounded(calibration.true_negatives)],
    [text.injections, text.ofAll(injections.passed, injections.of)],
    [text.p95, text.milliseconds(milliseconds(calibration.p95_ms))],
    [text.cost, dollars(calibration.usd_per_1000)],
  ]
}

const share = (basisPoints: number): string => percent(basisPoints / 10_000)

/** Bounds of a share of nothing are 0 and 100 %, so they are left out. */
const bounded = (figure: Figured['self_agreement']): string =>
  figure.of === 0
    ? words.common.none
    : text.bounded(text.ofAll(figure.found, figure.of), share(figure.at_least_bp), share(figure.at_most_bp))
