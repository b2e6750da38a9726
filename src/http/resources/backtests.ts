/** What backtests of policies and of the gateway configuration have in common in requests and responses. */
import Type from 'typebox'
import { lastSecond, toUnixSeconds } from '../../base/clock.ts'
import { backtestStatuses, type AnyBacktest } from '../../domain/evaluation/backtest/backtest.ts'
import type { GivenChoice } from '../../domain/evaluation/backtest/new-backtest.ts'
import { integer, number, text } from '../described.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { orNull, unixTime } from './fields.ts'

export const backtestExampleId = 'bt_01k9z8y7x6w5v4t3s2r1q0p9n8'

const time = (description: string) => Type.Integer({ minimum: 0, maximum: lastSecond, description })

/** Which events are replayed. */
export const eventChoiceFields = {
  from: Type.Optional(time('Start of the time range, in Unix seconds. Default: a week before `to`.')),
  to: Type.Optional(time('End of the time range, exclusive. Default: now.')),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      description: 'Maximum number of events, newest first. Default: 1000.',
    }),
  ),
  sample_percent: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 100,
      description: 'Percentage of these events to replay. The sample is deterministic. Default: 100.',
    }),
  ),
}

type ChoiceBody = {
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly limit?: number | undefined
  readonly sample_percent?: number | undefined
}

export const eventChoiceOf = ({ from, to, limit, sample_percent: samplePercent }: ChoiceBody): GivenChoice =>
  omitUndefined({
    fromMs: from === undefined ? undefined : from * 1000,
    toMs: to === undefined ? undefined : to * 1000,
    limit,
    samplePercent,
  })

export const count = (description: string) => integer(description, { minimum: 0 })

export const coverage = Type.Object(
  {
    events: count(
      'Events in the time range, up to the limit. With `audit.replay_sample`, only those whose texts are stored.',
    ),
    sampled: count('Of these, those in the sample.'),
    with_text: count(
      'Of these, those whose texts are stored (`audit.content`, or `audit.replay_sample`). Only these were replayed.',
    ),
    redacted_only: count('Of these, those whose texts are stored without personal data.'),
    from_sample: count('Of these, those whose texts are from the replay sample.'),
  },
  { description: 'How many events the result is based on.' },
)

export const progressFields = {
  status: Type.Enum([...backtestStatuses], { description: 'The progress of the backtest.' }),
  progress: Type.Object(
    { done: count('Events processed.'), total: count('Events in total. The `limit` until they are counted.') },
    { description: 'Events processed, and their total.' },
  ),
  from: unixTime('Start of the time range.'),
  to: unixTime('End of the time range, exclusive.'),
  limit: integer('Maximum number of events.'),
  sample_percent: number('Percentage of these events that are replayed.'),
}

export const endFields = {
  error: orNull(Type.String(), 'Why the backtest failed or was cancelled.'),
  created_at: unixTime('When it was created.'),
  updated_at: unixTime('Time of the last progress.'),
}

export const backtestId = text('The id of the backtest.')

export const presentProgress = ({ status, done, total, parameters }: AnyBacktest) => ({
  status,
  progress: { done, total },
  from: toUnixSeconds(parameters.fromMs),
  to: toUnixSeconds(parameters.toMs),
  limit: parameters.limit,
  sample_percent: parameters.samplePercent,
})

export const presentEnd = ({ error, createdAtMs, updatedAtMs }: AnyBacktest) => ({
  error,
  created_at: toUnixSeconds(createdAtMs),
  updated_at: toUnixSeconds(updatedAtMs),
})

/** The counts of each project, as a list. */
export const presentProjects = <C extends object>(projects: Readonly<Record<string, C>>) =>
  Object.entries(projects).map(([id, counts]) => ({ project_id: id === '' ? null : id, ...counts }))
