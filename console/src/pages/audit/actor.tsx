import type { Names } from '../../api/names.ts'
import { words } from '../../words/en.ts'
import type { AuditEvent } from './queries.ts'

/** Who caused an event: the name of the key or the member if it is known, its id otherwise. */
export function ActorName({ actor, names }: { readonly actor: AuditEvent['actor']; readonly names: Names }) {
  const kind = words.audit.actors[actor.type]
  if (actor.id === null) return <>{kind}</>
  return <span title={`${kind} ${actor.id}`}>{names.get(actor.id) ?? actor.id}</span>
}
