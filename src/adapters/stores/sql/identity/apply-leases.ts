import type { ApplyLeaseStore } from '../../../../domain/mutations/apply-lease.ts'
import type { Transaction } from '../database.ts'

/** Compare-and-set: of two runs that start at the same time, one gets the lease. */
const take = `insert into apply_lease (organization_id, holder, expires_at) values ($1, $2, $3)
  on conflict (organization_id) do update set holder = excluded.holder, expires_at = excluded.expires_at
  where apply_lease.holder = excluded.holder or apply_lease.expires_at <= $4`

const release = 'delete from apply_lease where organization_id = $1 and holder = $2'

/** Leases of `gatehouse apply` in SQL, in the given transaction. */
export const applyLeaseStore = (tx: Transaction): ApplyLeaseStore => ({
  takeLease: async ({ organizationId, holder }, { nowMs, expiresAtMs }) =>
    (await tx.run(take, [organizationId, holder, expiresAtMs, nowMs])) === 1,
  async releaseLease({ organizationId, holder }) {
    await tx.run(release, [organizationId, holder])
  },
})
