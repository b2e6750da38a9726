import { setTimeout } from 'node:timers/promises'
import { changes, type ShownBacktest } from '../../app/operations/backtests.ts'
import { readNumber, readTime } from '../arguments.ts'
import { awaitBacktest } from './await-backtest.ts'
import type { PolicyCall, Verb } from './call.ts'
import { wholeNumber } from './fields.ts'
import type { Result } from '../run-command.ts'
import { table } from '../table.ts'

/** Tries a draft on what was said before, and waits for what comes of it. */
export const backtest: Verb = async ({ house, where, id, values, context }) => {
  const { operations, clock } = house
  const begun =
    values.backtest === undefined
      ? await operations['policies.backtest']({ ...where, id, order: orderOf(values, clock.nowMs()) })
      : await operations['policies.backtestOf']({ ...where, id, backtest: values.backtest })
  const read = () => operations['policies.backtestOf']({ ...where, id, backtest: begun.id })
  const waiting = { read, clock, wait: setTimeout, progress: context.progress }
  const ended = values['no-wait'] ? begun : await awaitBacktest(begun, waiting)
  return told(ended, id)
}

/** The options that were given, by the names of the API. */
function orderOf(values: PolicyCall['values'], nowMs: number): object {
  const order = {
    from: secondsOf(values.from, nowMs),
    to: secondsOf(values.to, nowMs),
    limit: values.limit === undefined ? undefined : wholeNumber(values.limit, '--limit'),
    sample_percent: readNumber(values.sample, '--sample'),
    thresholds: values.thresholds?.split(',').map((text) => wholeNumber(text.trim(), '--thresholds')),
  }
  return Object.fromEntries(Object.entries(order).filter(([, value]) => value !== undefined))
}

/** A time as it is written, or `7d`: so long ago. */
function secondsOf(text: string | undefined, nowMs: number): number | undefined {
  const atMs = readTime(text, nowMs)
  if (atMs === null || text === undefined) return undefined
  return Math.floor((/^\d+[dhm]$/.test(text) ? 2 * nowMs - atMs : atMs) / 1000)
}

function told(answer: ShownBacktest, policyId: string): Result {
  if (answer.status === 'failed') return { answer, text: `${answer.id} failed: ${answer.error ?? ''}`, isRefused: true }
  if (answer.result === null) {
    const { done, total } = answer.progress
    const how = `gatehouse policies backtest ${policyId} --backtest ${answer.id}`
    const remarks = [`It runs while the service does. See what came of it with: ${how}`]
    return { answer, text: `${answer.id} is running: ${done} of ${total} events.`, remarks }
  }
  return { answer, text: linesOf(answer.id, answer.result).join('\n') }
}

type Outcome = NonNullable<ShownBacktest['result']>

const inWords = (name: string): string => name.replaceAll('_', ' ')

function linesOf(id: string, result: Outcome): string[] {
  const { events, sampled, with_text: withText, redacted_only: redacted } = result.coverage
  const seen = `${events} events, ${sampled} in the sample, ${withText} with text (${redacted} without personal data)`
  return [
    `${id}: ${seen}`,
    '',
    table(
      ['PROJECT', ...changes.map((name) => inWords(name).toUpperCase())],
      [...result.projects.map((row) => [row.project_id ?? '-', ...countsOf(row)]), ['all', ...countsOf(result)]],
    ),
    '',
    table(['THRESHOLD', 'BLOCKED', 'NEWLY BLOCKED', 'NEWLY ALLOWED'], sweepOf(result)),
    ...examplesOf(result),
  ]
}

const countsOf = (counts: Readonly<Record<(typeof changes)[number], number>>): string[] =>
  changes.map((name) => String(counts[name]))

const sweepOf = ({ sweep, threshold_basis_points: own }: Outcome): string[][] =>
  sweep.map((row) => [
    `${row.threshold_basis_points}${row.threshold_basis_points === own ? ' (draft)' : ''}`,
    ...[row.blocked, row.newly_blocked, row.newly_allowed].map(String),
  ])

const examplesOf = ({ examples }: Outcome): string[] =>
  Object.entries(examples).flatMap(([change, ids]) => (ids.length === 0 ? [] : ['', `${inWords(change)}:`, ...ids]))
