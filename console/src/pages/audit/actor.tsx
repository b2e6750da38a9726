import { useMay } from '../../app/session.tsx'
import { words } from '../../words/en.ts'
import { useAdminKeyNames, type AuditEvent } from './queries.ts'

/** Who caused an event: the name of the key if it is known, its id otherwise. */
export function ActorName({ actor }: { readonly actor: AuditEvent['actor'] }) {
  const names = useAdminKeyNames(useMay('keys:read'))
  const kind = words.audit.actors[actor.type]
  if (actor.id === null) return <>{kind}</>
  return <span title={`${kind} ${actor.id}`}>{names.get(actor.id) ?? actor.id}</span>
}
