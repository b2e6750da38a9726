import type { Static } from 'typebox'
import type { DeadLetter, WatchedSink } from '../../../domain/audit/export/export-sink.ts'
import { dateOf } from '../../../domain/costs/focus.ts'
import type { DeadLetterList, ExportObject } from './schema.ts'

export const presentExport = ({ health, ...sink }: WatchedSink): Static<typeof ExportObject> => ({
  id: sink.id,
  type: sink.type,
  label: sink.label,
  enabled: sink.enabled,
  config: { ...sink.config },
  created_at: iso(sink.createdAtMs),
  updated_at: iso(sink.updatedAtMs),
  last_success_at: isoOrNull(health.lastSuccessAtMs),
  last_error_at: isoOrNull(health.lastErrorAtMs),
  last_error: health.lastError,
  health: {
    state: health.state,
    backlog_events: health.backlogEvents,
    oldest_unsent_at: isoOrNull(health.oldestUnsentAtMs),
    next_attempt_at: isoOrNull(health.nextAttemptAtMs),
    dead_letters: health.deadLetters,
    cost_files: health.costFiles && {
      days: health.costFiles.count,
      last_day: dateOrNull(health.costFiles.lastDay),
      last_day_without_tags: dateOrNull(health.costFiles.lastDayWithoutTags),
    },
  },
})

export const presentDeadLetter = (letter: DeadLetter): Static<typeof DeadLetterList>['data'][number] => ({
  id: letter.id,
  sequence: letter.sequence,
  reason: letter.reason,
  created_at: iso(letter.atMs),
  attempts: letter.attempts,
  replaying: letter.isReplaying,
})

const iso = (ms: number): string => new Date(ms).toISOString()
const dateOrNull = (day: number | null): string | null => (day === null ? null : dateOf(day))
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))
