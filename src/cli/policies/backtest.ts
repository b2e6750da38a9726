import { setTimeout } from 'node:timers/promises'
import { apiPath } from '../../app/client/api-client.ts'
import { changes } from '../../app/client/policies.ts'
import type { BacktestBody } from '../../http/admin/policies/backtest-schema.ts'
import { readNumber, readPastTime, required } from '../arguments.ts'
import { awaitBacktest } from './await-backtest.ts'
import type { PolicyCall, Verb } from './call.ts'
import { wholeNumber } from './fields.ts'
import type { Result } from '../run-on-server.ts'
import { dateOf, table } from '../table.ts'

const pathOf = (policyId: string): string => apiPath`/v1/organization/policies/${policyId}/backtest`

/** Lists the backtests of a policy. */
export const backtests: Verb = async ({ connection: { client }, id }) => {
  const response = await client.list<BacktestBody>(pathOf(id))
  const rows = response.data.map((each) => [
    each.id,
    dateOf(each.created_at),
    each.status,
    String(each.revision),
    `${each.progress.done} of ${each.progress.total}`,
    String(each.result?.newly_blocked ?? '-'),
    String(each.result?.newly_allowed ?? '-'),
  ])
  return {
    json: response,
    text: table(['ID', 'CREATED', 'STATUS', 'REVISION', 'EVENTS', 'NEWLY BLOCKED', 'NEWLY ALLOWED'], rows),
  }
}

/** Replays a draft over recorded requests and waits for the result. With `--cancel`, ends a running backtest. */
export const backtest: Verb = async ({ connection: { client, clock }, id, values, context }) => {
  const path = pathOf(id)
  if (values.cancel) {
    const backtestId = required(values.backtest, '--backtest')
    return resultOf(await client.post<BacktestBody>(`${path}/${encodeURIComponent(backtestId)}/cancel`, {}), id)
  }
  const readBacktest = (backtestId: string) => client.get<BacktestBody>(`${path}/${encodeURIComponent(backtestId)}`)
  const started =
    values.backtest === undefined
      ? await client.post<BacktestBody>(path, newBacktestOf(values, clock.nowMs()))
      : await readBacktest(values.backtest)
  const read = () => readBacktest(started.id)
  const waiting = { read, clock, wait: setTimeout, progress: context.progress }
  const ended = values['no-wait'] ? started : await awaitBacktest(started, waiting)
  return resultOf(ended, id)
}

/** The options that were given, under the names of the API. */
function newBacktestOf(values: PolicyCall['values'], nowMs: number): object {
  const fields = {
    from: readPastTime(values.from, nowMs),
    to: readPastTime(values.to, nowMs),
    limit: values.limit === undefined ? undefined : wholeNumber(values.limit, '--limit'),
    sample_percent: readNumber(values.sample, '--sample'),
    thresholds: values.thresholds?.split(',').map((text) => wholeNumber(text.trim(), '--thresholds')),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function resultOf(response: BacktestBody, policyId: string): Result {
  if (response.status === 'failed')
    return { json: response, text: `${response.id} failed: ${response.error ?? ''}`, isFailed: true }
  if (response.status === 'cancelled') return { json: response, text: `${response.id} is cancelled.` }
  if (response.result === null) {
    const { done, total } = response.progress
    const how = `gatehouse policies backtest ${policyId} --backtest ${response.id}`
    const warnings = [`It runs while the service runs. Show its result with: ${how}`]
    return { json: response, text: `${response.id} is running: ${done} of ${total} events.`, warnings }
  }
  return { json: response, text: linesOf(response.id, response.result).join('\n') }
}

type Outcome = NonNullable<BacktestBody['result']>

const inWords = (name: string): string => name.replaceAll('_', ' ')

function linesOf(id: string, result: Outcome): string[] {
  const { events, sampled, with_text: withText, redacted_only: redacted, from_sample: fromSample } = result.coverage
  const texts = `${withText} with text (${redacted} without personal data, ${fromSample} from the replay sample)`
  const seen = `${events} events, ${sampled} chosen, ${texts}`
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
