import type { Names } from '../../api/names.ts'
import { shortId } from '../../kit/short-id.tsx'
import { words } from '../../words/en.ts'
import type { AuditEvent } from './queries.ts'

const sentences: Readonly<Record<string, (object: string, about: string | undefined) => string>> = words.audit.happened

/** What happened to which object, without the actor, who has a column. */
export function What({ event, names }: { readonly event: AuditEvent; readonly names: Names }) {
  const { kind, message, resource_id: id } = event
  const sentence = sentences[kind]
  const text =
    sentence === undefined || id === null
      ? message.replace(/\b[a-z]+_[0-9a-z]{26}\b/g, (found) => names.get(found) ?? shortId(found))
      : sentence(nameIn(event.details) ?? names.get(id) ?? shortId(id), nameOfOwner(event.details, names))
  return <span title={message}>{text}</span>
}

/** What a case, an exception, an appeal or a calibration belongs to. */
function nameOfOwner({ policy_id: policy, judge_id: judge }: AuditEvent['details'], names: Names): string | undefined {
  const id = [policy, judge].find((value): value is string => typeof value === 'string')
  return id === undefined ? undefined : (names.get(id) ?? shortId(id))
}

/** The name of the object at the time of the event. */
function nameIn({ name, label, email }: AuditEvent['details']): string | undefined {
  return [name, label, email].find((value): value is string => typeof value === 'string' && value !== '')
}
