import { count, time } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import type { Sink } from './queries.ts'

const text = words.sinks

/** What happens to the events of a sink, in sentences. */
export function healthSentence({ health }: Sink): string {
  const { state, cost_files: files, backlog_events: backlog, next_attempt_at: next } = health
  const attempt = next === null ? '' : ` ${text.nextAttempt(time(Date.parse(next)))}`
  const waiting = backlog === 0 ? '' : ` ${text.waiting(count(backlog))}`
  const sentence = (files === null ? undefined : text.costSentences[state]) ?? text.sentences[state]
  return `${sentence}${attempt}${waiting}`
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** The age of the oldest event that is not sent yet, such as `3 min`. */
export function lagOf({ health }: Sink, nowMs: number): string {
  if (health.oldest_unsent_at === null) return words.common.none
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(health.oldest_unsent_at)) / 1_000))
  const [unit, length] = units.find(([, size]) => seconds >= size) ?? ['s', 1]
  return `${Math.floor(seconds / length)} ${unit}`
}

/** The address of the destination, for people who tell sinks apart by it. */
export function destinationOf({ config }: Sink): string {
  const fields: Readonly<Record<string, unknown>> = config
  const named = ['url', 'bucket', 'site', 'endpoint', 'cloud_id'].map((name) => fields[name])
  return named.find((value) => typeof value === 'string') ?? words.common.none
}

export const nameOf = ({ label, id }: Sink): string => (label === '' ? id : label)
