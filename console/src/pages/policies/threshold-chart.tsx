import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { useMay } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { Card } from '../../kit/card.tsx'
import { DataTable, type DataColumn } from '../../kit/data-table.tsx'
import { count, percent } from '../../kit/format.ts'
import { Slider } from '../../kit/slider.tsx'
import { words } from '../../words/en.ts'
import { curveOf, highestThreshold, isFlat, onCurve, thresholdStep } from './threshold-curve.ts'
import type { BacktestResult, ThresholdEffect } from './threshold-curve.ts'
import { usePolicyDraft } from './use-draft.ts'
import styles from './threshold-chart.module.css'

const text = words.policy.replay

type ChartProps = {
  readonly result: BacktestResult
  /** In basis points; the threshold of the replayed draft without one. */
  readonly threshold: number | undefined
  readonly onChange: (threshold: number) => void
}

/** The share of requests that each threshold denies. A slider chooses one, and a button takes it over into the draft. */
export function ThresholdChart({ result, threshold, onChange }: ChartProps) {
  const curve = useMemo(() => curveOf(result), [result])
  const replayed = result.coverage.with_text
  const chosen = onCurve(threshold ?? result.threshold_basis_points)
  const effect = curve.find((each) => each.threshold === chosen)
  if (effect === undefined || replayed === 0) return null
  const shareOf = ({ denied }: ThresholdEffect): number => denied / replayed
  return (
    <Card title={text.curve} note={text.curveNote}>
      <div className={styles.chart}>
        <Curve curve={curve} shareOf={shareOf} chosen={effect} own={result.threshold_basis_points} />
        <div className={styles.slider}>
          <Slider
            aria-label={text.threshold}
            aria-valuetext={text.at(count(chosen), percent(shareOf(effect)))}
            min={thresholdStep}
            max={highestThreshold}
            step={thresholdStep}
            value={chosen}
            onChange={onChange}
          />
        </div>
        <Effect effect={effect} share={shareOf(effect)} />
        {isFlat(curve) && <p className={styles.note}>{text.flat}</p>}
        <details className={styles.table}>
          <summary>{text.asTable}</summary>
          <DataTable
            label={text.curve}
            rows={curve.filter((each) => each.threshold % tableStep === 0)}
            columns={columns}
            idOf={(each) => String(each.threshold)}
            selectedId={String(chosen)}
          />
        </details>
      </div>
    </Card>
  )
}

const tableStep = 500

const columns: readonly DataColumn<ThresholdEffect>[] = [
  { id: 'threshold', name: text.threshold, cell: ({ threshold }) => count(threshold) },
  { id: 'denied', name: text.denied, isNumber: true, cell: ({ denied }) => count(denied) },
  { id: 'newly_blocked', name: text.changes.newly_blocked, isNumber: true, cell: (each) => count(each.newlyDenied) },
  { id: 'newly_allowed', name: text.changes.newly_allowed, isNumber: true, cell: (each) => count(each.newlyAllowed) },
]

const height = 160

type CurveProps = {
  readonly curve: readonly ThresholdEffect[]
  readonly shareOf: (effect: ThresholdEffect) => number
  readonly chosen: ThresholdEffect
  /** The threshold of the draft that was replayed. */
  readonly own: number
}

/** Drawn in basis points, so that it lies exactly above the slider. */
function Curve({ curve, shareOf, chosen, own }: CurveProps) {
  const top = Math.max(...curve.map(shareOf), 0.001)
  const heightOf = (effect: ThresholdEffect): number => 1 - shareOf(effect) / top
  const points = curve.map((effect) => `${effect.threshold} ${heightOf(effect).toFixed(4)}`)
  const line = `M${points.join('L')}`
  return (
    <div className={styles.plot} style={{ height }}>
      <span className={styles.yTop}>{percent(top)}</span>
      <span className={styles.yZero}>0</span>
      <svg
        role="img"
        aria-label={text.at(count(chosen.threshold), percent(shareOf(chosen)))}
        viewBox={`${thresholdStep} 0 ${highestThreshold - thresholdStep} 1`}
        preserveAspectRatio="none"
      >
        <path className={styles.area} d={`${line}V1H${thresholdStep}Z`} />
        <path className={styles.line} d={line} />
        <path className={styles.own} d={`M${own} 0V1`} />
        <path className={styles.chosen} d={`M${chosen.threshold} 0V1`} />
      </svg>
      <span
        className={styles.ownLabel}
        style={{ left: `${((onCurve(own) - thresholdStep) / (highestThreshold - thresholdStep)) * 100}%` }}
      >
        {text.own}
      </span>
    </div>
  )
}

function Effect({ effect, share }: { readonly effect: ThresholdEffect; readonly share: number }) {
  const { policy, form, set } = usePolicyDraft()
  const navigate = useNavigate()
  const mayWrite = useMay('policies:write')
  const isInForm = form.match_threshold_basis_points === effect.threshold
  const use = (): void => {
    set({ match_threshold_basis_points: effect.threshold })
    void navigate({ to: '/policies/$policyId', params: { policyId: policy.id } })
  }
  return (
    <div className={styles.effect}>
      <dl>
        <Figure name={text.threshold} value={count(effect.threshold)} />
        <Figure name={text.denied} value={count(effect.denied)} note={percent(share)} />
        <Figure name={text.changes.newly_blocked} value={count(effect.newlyDenied)} />
        <Figure name={text.changes.newly_allowed} value={count(effect.newlyAllowed)} />
      </dl>
      <Button
        disabled={!mayWrite || isInForm}
        title={mayWrite ? (isInForm ? text.isInForm : undefined) : words.policies.mayNotWrite}
        onClick={use}
      >
        {text.useThreshold(count(effect.threshold))}
      </Button>
    </div>
  )
}

type FigureProps = { readonly name: string; readonly value: string; readonly note?: string }

const Figure = ({ name, value, note }: FigureProps) => (
  <div>
    <dt>{name}</dt>
    <dd>
      {value} {note !== undefined && <small>{note}</small>}
    </dd>
  </div>
)
