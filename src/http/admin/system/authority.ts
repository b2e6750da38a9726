import { Fault } from '../../../base/fault.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import type { AdminParts } from '../parts.ts'

/** What belongs to the installation is for the operator, and for administrators unless the configuration excludes them. */
export function requireSystemAccess(
  { kind }: Administrator,
  { isSystemVisible }: Pick<AdminParts, 'isSystemVisible'>,
): void {
  if (kind === 'operator' || isSystemVisible) return
  const message = 'Only the operator of this installation may see its upstreams, nodes and settings.'
  throw new Fault('permission', 'permission_denied', message)
}
