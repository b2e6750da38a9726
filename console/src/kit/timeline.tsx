import { milliseconds } from './format.ts'
import { words } from '../words/en.ts'
import type { components } from '../api/schema.d.ts'
import styles from './timeline.module.css'

type Step = components['schemas']['RequestDetail']['timeline'][number]

type TimelineProps = {
  readonly steps: readonly Step[]
  readonly totalMs: number | null
  /** Whether the response was streamed. Otherwise all of it is checked before any of it is sent. */
  readonly isStream: boolean
}

const ticks = [0, 0.25, 0.5, 0.75, 1]

/** The steps of a request as bars on one scale, each with its duration. */
export function Timeline({ steps, totalMs, isStream }: TimelineProps) {
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
            {step.step === 'first_byte' ? words.request.at(milliseconds(step.at_ms)) : milliseconds(step.ms)}
          </span>
          <Note step={step} isStream={isStream} />
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
function Note({ step: { step, outcome, detail }, isStream }: { readonly step: Step; readonly isStream: boolean }) {
  const { coverages, deniedStep, deniedBeforeSent, heldBack } = words.request
  const { coverage, held_back_ms: heldMs, ...others } = detail ?? {}
  const isDenied = outcome === 'denied'
  const isWhole = step === 'answer' && (!isStream || coverage === 'whole')
  const known = Object.entries(coverages).find(([id]) => id === (isWhole ? 'whole' : coverage))?.[1]
  const sentences = [
    ...(isDenied ? [isWhole ? deniedBeforeSent : deniedStep] : []),
    // How a denied response would have been sent says nothing about it.
    ...(isDenied || known === undefined || coverage === undefined ? [] : [known]),
    ...(typeof heldMs === 'number' ? [heldBack(milliseconds(heldMs))] : []),
  ]
  const facts = [
    ...(isDenied || outcome === null || outcome === 'ok' ? [] : [outcome]),
    ...Object.entries(others).map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`),
  ]
  const note = [...sentences, facts.join(' · ')].filter((part) => part !== '').join(' ')
  return note === '' ? null : <span className={styles.note}>{note}</span>
}
