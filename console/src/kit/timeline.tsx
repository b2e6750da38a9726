import { milliseconds } from './format.ts'
import { words } from '../words/en.ts'
import type { components } from '../api/schema.d.ts'
import styles from './timeline.module.css'

type Step = components['schemas']['RequestDetail']['timeline'][number]

type TimelineProps = { readonly steps: readonly Step[]; readonly totalMs: number | null }

const ticks = [0, 0.25, 0.5, 0.75, 1]

/** The steps of a request as bars on one scale, each with its duration. */
export function Timeline({ steps, totalMs }: TimelineProps) {
  if (steps.length === 0) return <p className={styles.none}>{words.request.noTimeline}</p>
  const ends = steps.map(({ at_ms: atMs, ms }) => atMs + ms)
  const spanMs = Math.max(1, totalMs ?? 0, ...ends)
  let attempts = 0
  return (
    <ol className={styles.timeline}>
      <li className={styles.axis} aria-hidden="true">
        {ticks.map((tick) => (
          <span key={tick}>{milliseconds(tick * spanMs)}</span>
        ))}
      </li>
      {steps.map((step, at) => (
        <li key={at}>
          <span className={styles.name}>
            {words.request.steps[step.step]}
            {step.step === 'attempt' ? ` ${(attempts += 1)}` : ''}
          </span>
          <span className={styles.lane}>
            <span
              className={styles.bar}
              data-step={step.step}
              data-tone={toneOf(step)}
              style={{ left: share(step.at_ms / spanMs), width: share(step.ms / spanMs) }}
            />
          </span>
          <span className={styles.ms}>
            {step.step === 'first_byte' ? milliseconds(step.at_ms) : milliseconds(step.ms)}
          </span>
          {noteOf(step) !== '' && <span className={styles.note}>{noteOf(step)}</span>}
        </li>
      ))}
    </ol>
  )
}

const share = (part: number): string => `${(Math.min(1, part) * 100).toFixed(2)}%`

function toneOf({ outcome, step }: Step): string | undefined {
  if (outcome === 'denied') return 'deny'
  if (step === 'attempt' && outcome !== null && outcome !== 'ok') return 'error'
  return undefined
}

/** The outcome and the details of a step. What has no words is named as the server names it. */
function noteOf({ outcome, detail }: Step): string {
  // How a denied response would have been sent says nothing about it.
  const shown = Object.entries(detail ?? {}).filter(([name]) => outcome !== 'denied' || name !== 'coverage')
  const details = shown.map(([name, value]) => detailText(name, value))
  return [...(outcome === null || outcome === 'ok' ? [] : [outcome]), ...details].join(' · ')
}

function detailText(name: string, value: string | number | boolean): string {
  const { coverages, heldBack } = words.request
  if (name === 'held_back_ms' && typeof value === 'number') return heldBack(milliseconds(value))
  const coverage = Object.entries(coverages).find(([id]) => name === 'coverage' && id === value)
  return coverage === undefined ? `${name.replaceAll('_', ' ')} ${String(value)}` : coverage[1]
}
