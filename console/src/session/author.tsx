import { useAdminKeyNames, useMemberNames } from '../api/names.ts'
import { nameOr } from '../kit/short-id.tsx'
import { words } from '../words/en.ts'
import { useMay } from './session.tsx'

/** Who did something, by name where the reader may see it. Versions of earlier releases have no author. */
export function Author({ id }: { readonly id: string | null }) {
  const keys = useAdminKeyNames(useMay('keys:read'))
  const members = useMemberNames(useMay('members:read'))
  if (id === null) return words.common.none
  if (id === 'operator') return words.audit.actors.operator
  return <span title={id}>{members.get(id) ?? nameOr(keys, id)}</span>
}
