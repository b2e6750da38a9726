import type { BudgetPer } from '../../../domain/budgets/budget.ts'
import type { NamedKind, NamesOf } from '../../../domain/costs/names.ts'
import { holds, type Permission } from '../../../domain/identity/permissions.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'

type Members = { readonly per: BudgetPer; readonly members: readonly (string | null)[] }

const nameRights: Readonly<Record<NamedKind, Permission>> = { project: 'projects:read', key: 'keys:read' }

/** The names of members that are projects or keys, if the caller may read these. */
export async function memberNames(
  names: NamesOf,
  { organization, permissions }: Administrator,
  { per, members }: Members,
): Promise<(member: string | null) => string | null> {
  if (per !== 'project' && per !== 'key') return () => null
  if (!holds(permissions, nameRights[per])) return () => null
  const ids = new Set(members.flatMap((member) => member ?? []))
  const found = await names(organization.id, per, [...ids])
  return (member) => found.get(member ?? '') ?? null
}
