import { Fault } from '../../../base/fault.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'

/** False: only the operator changes credits, plans and limits. */
export type CreditAuthority = { readonly administratorsManageCredits: boolean }

/** Who may change credits, plans and limits: the operator, and administrators unless the configuration excludes them. */
export function requireCreditManager(
  { kind, permissions }: Administrator,
  { administratorsManageCredits }: CreditAuthority,
): void {
  requirePermission(permissions, 'credits:write')
  if (kind === 'operator' || administratorsManageCredits) return
  const message = 'Only the operator of this installation may change credits, plans and limits.'
  throw new Fault('permission', 'permission_denied', message)
}
