import type { Clock } from '../../base/clock.ts'
import type { AuditedMutation } from '../mutations/audited-mutation.ts'
import type { FindDueAppeals } from './appeal.ts'
import type { Appeals, AppealStores } from './appeals.ts'

export type ExpireAppealsParts = {
  readonly findDue: FindDueAppeals
  readonly mutate: AuditedMutation<Pick<AppealStores, 'appeals'>>
  readonly appeals: Pick<Appeals, 'expire'>
  readonly clock: Pick<Clock, 'nowMs'>
}

const perStep = 100

/** Closes the appeals whose time is over, each with its audit event. Of several nodes, the first one closes it. */
export function createExpireAppeals({ findDue, mutate, appeals, clock }: ExpireAppealsParts) {
  return async (): Promise<void> => {
    for (;;) {
      const due = await findDue(clock.nowMs(), perStep)
      for (const { organizationId, id } of due) {
        const service = { organizationId, kind: 'system', credentialId: null, requestId: null } as const
        await mutate(service, (stores) => appeals.expire(stores, { organizationId, id }))
      }
      if (due.length < perStep) return
    }
  }
}
