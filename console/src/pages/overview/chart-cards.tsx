import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Shape } from '../../kit/badge.tsx'
import { count, time, timeSpan } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import type { Series } from '../../kit/series.ts'
import type { Bar } from '../../kit/stacked-bars.tsx'
import { words } from '../../words/en.ts'
import type { Mark, Publication } from './bars.ts'
import styles from './chart-cards.module.css'

const text = words.overview.marks

/** Where a bar of a chart is, as a share of its width. Cards of the right half open to the left. */
const placeOf = (at: number, bars: number) => ({
  left: `${((at + 0.5) / bars) * 100}%`,
  side: at < bars / 2 ? 'right' : 'left',
})

type BarCardProps = {
  readonly bar: Bar
  readonly at: number
  readonly bars: readonly Bar[]
  readonly series: readonly Series[]
}

/** The numbers of the bar under the pointer. The table has the same for those who use none. */
export function BarCard({ bar, at, bars, series }: BarCardProps) {
  const { left, side } = placeOf(at, bars.length)
  const lengthMs = (bars[1]?.startMs ?? bar.startMs) - (bars[0]?.startMs ?? bar.startMs)
  return (
    <div className={styles.anchor} style={{ left }} aria-hidden="true">
      <div className={styles.card} data-side={side}>
        <strong>{lengthMs === 0 ? time(bar.startMs) : timeSpan(bar.startMs, bar.startMs + lengthMs)}</strong>
        <ul>
          {series
            .filter(({ id }) => id === 'requests' || (bar.values[id] ?? 0) > 0)
            .map(({ id, name, tone }) => (
              <li key={id}>
                <Shape tone={tone} />
                <span>{name}</span>
                <b>{count(bar.values[id] ?? 0)}</b>
              </li>
            ))}
        </ul>
      </div>
    </div>
  )
}

type MarksProps = { readonly marks: readonly Mark[]; readonly bars: number }

/** Lines where something came into force, each with a card on hover and focus. */
export const Marks = ({ marks, bars }: MarksProps) =>
  marks.length === 0 ? null : (
    <ul className={styles.marks} aria-label={text.label}>
      {marks.map((mark) => (
        <MarkLine key={mark.at} mark={mark} bars={bars} />
      ))}
    </ul>
  )

function MarkLine({ mark: { at, publications }, bars }: { readonly mark: Mark; readonly bars: number }) {
  const { left, side } = placeOf(at, bars)
  const [first] = publications
  if (!first) return null
  return (
    <li className={styles.mark} style={{ left }}>
      <PublicationLink publication={first} className={styles.handle} label={publications.map(describe).join('; ')}>
        <Icon name={first.policy_id === null ? 'gateway' : 'policies'} size={14} />
      </PublicationLink>
      <div className={styles.card} data-side={side} aria-hidden="true">
        <ul>
          {publications.map((publication) => (
            <li key={publication.event_id}>
              <strong>{nameOf(publication)}</strong>
              <span>
                {whoOf(publication)}, {time(publication.at * 1_000)}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </li>
  )
}

type LinkProps = {
  readonly publication: Publication
  readonly className: string | undefined
  readonly label: string
  readonly children: ReactNode
}

const PublicationLink = ({ publication: { policy_id: id }, label, ...props }: LinkProps) =>
  id === null ? (
    <Link to="/gateway" aria-label={label} {...props} />
  ) : (
    <Link to="/policies/$policyId/history" params={{ policyId: id }} aria-label={label} {...props} />
  )

const nameOf = ({ policy_id: id, name, version }: Publication): string =>
  id === null ? text.gateway(version) : text.policy(name ?? text.deleted, version)

const whoOf = ({ actor }: Publication): string => text.by(actor === null ? text.operator : (actor.name ?? actor.id))

const describe = (publication: Publication): string =>
  `${nameOf(publication)}, ${whoOf(publication)}, ${time(publication.at * 1_000)}`
