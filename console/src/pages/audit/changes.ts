import type { AuditEvent } from './queries.ts'

/** A field of an event. `before` is undefined if the event does not record it. */
export type ChangedField = { readonly name: string; readonly before: string | undefined; readonly after: string }

/** The fields of an event, with their values before the change where the event records them. */
export function changedFields({ before, ...after }: AuditEvent['details']): readonly ChangedField[] {
  const old = isRecord(before) ? before : undefined
  return Object.entries(after).map(([name, value]) => ({
    name,
    before: old !== undefined && name in old ? textOf(old[name]) : undefined,
    after: textOf(value),
  }))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 1))

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
