import type { Usage } from '../../../domain/inference/events.ts'
import { isRecord } from '../../../base/record.ts'

type Fields = Readonly<Record<string, unknown>>

/** The upstream's usage object, which may have more fields. The gateway's counts replace those that are missing or implausible. */
export function vendorUsage(reported: unknown, counted: Fields, { source }: Usage): Fields {
  const usage = isRecord(reported) ? reported : counted
  return source === 'reported' ? usage : { ...usage, ...counted }
}
