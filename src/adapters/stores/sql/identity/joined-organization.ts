import type { Organization } from '../../../../domain/identity/principal.ts'
import { columns, organizationOf, type OrganizationRow } from './rows.ts'

/** The columns of `organization o`, renamed so that they can stand beside those of another table. */
export const joinedColumns = columns.organization.replace(/\w+/g, 'o.$& as o_$&')

export type JoinedOrganization = { [Column in keyof OrganizationRow as `o_${Column}`]: OrganizationRow[Column] }

export const joinedOrganization = (row: JoinedOrganization): Organization =>
  organizationOf({
    id: row.o_id,
    name: row.o_name,
    plan: row.o_plan,
    lifetime_paid_micro_usd: row.o_lifetime_paid_micro_usd,
    metered: row.o_metered,
    created_at: row.o_created_at,
  })
