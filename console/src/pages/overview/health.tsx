import { Link } from '@tanstack/react-router'
import { Shape, type Tone } from '../../kit/badge.tsx'
import { Card } from '../../kit/card.tsx'
import { count } from '../../kit/format.ts'
import { sinkTones } from '../../kit/sink-tones.ts'
import { words } from '../../words/en.ts'
import type { Overview } from '../../session/overview.ts'
import styles from './rows.module.css'

const text = words.overview

const tones: Record<Overview['health'][number]['state'], Tone> = { ok: 'allow', degraded: 'warning', failing: 'error' }

const upstreamTones: Record<Overview['upstreams'][number]['state'], Tone> = {
  ok: 'allow',
  failing: 'warning',
  resting: 'warning',
  unknown: 'none',
}

type HealthProps = Pick<Overview, 'health' | 'upstreams' | 'sinks'>

/** The upstreams, the sinks and the parts of the service, and how each does. */
export const Health = ({ health, upstreams, sinks }: HealthProps) => (
  <Card title={text.health} isFlush>
    {upstreams.length > 0 && <h3 className={styles.group}>{text.parts.upstreams}</h3>}
    <ul className={styles.rows}>
      {upstreams.map((upstream) => (
        <li key={upstream.name}>
          <Shape tone={upstreamTones[upstream.state]} />
          <Link to="/models" className={styles.text}>
            {upstream.name}
          </Link>
          <span className={styles.end}>{upstreamText(upstream)}</span>
        </li>
      ))}
    </ul>
    {sinks.length > 0 && <h3 className={styles.group}>{text.parts.sinks}</h3>}
    <ul className={styles.rows}>
      {sinks.map((sink) => (
        <li key={sink.id}>
          <Shape tone={sinkTones[sink.state]} />
          <Link to="/sinks/$sinkId" params={{ sinkId: sink.id }} className={styles.text}>
            {sink.name}
          </Link>
          <span className={styles.end}>{sinkText(sink)}</span>
        </li>
      ))}
    </ul>
    <h3 className={styles.group}>{text.parts.service}</h3>
    <ul className={styles.rows}>
      {health.map(({ part, state, text: problem }) => (
        <li key={part}>
          <Shape tone={tones[state]} />
          <span className={styles.text}>{part}</span>
          <span className={styles.end}>{problem ?? text.states[state]}</span>
        </li>
      ))}
    </ul>
  </Card>
)

function upstreamText({ state, ...upstream }: Overview['upstreams'][number]): string {
  const states = text.upstreamStates
  const stateText = state === 'resting' ? states.resting(upstream.skipped_seconds) : states[state]
  const error = state === 'ok' || upstream.last_error === null ? '' : upstream.last_error
  const busy = upstream.in_flight > 0 ? text.inFlight(count(upstream.in_flight)) : ''
  return joined([stateText, error, busy])
}

const sinkText = ({ state, waiting_events: waiting, last_error: error }: Overview['sinks'][number]): string =>
  joined([
    text.sinkStates[state],
    state === 'healthy' ? '' : (error ?? ''),
    waiting > 0 ? text.waiting(count(waiting)) : '',
  ])

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== '').join(' · ')
