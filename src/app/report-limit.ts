import { createFairSemaphore, type FairSemaphore } from '../base/fair-semaphore.ts'
import type { Infrastructure } from './infrastructure.ts'

const mostOfOrganization = 3
const mostWaitingOfOrganization = 20

/** Limits the reports that run at once. An organization does not get the last slot, unless there is only one: then organizations take turns. */
export function createReportLimit({ database, config }: Pick<Infrastructure, 'database' | 'config'>): FairSemaphore {
  const most = database.engine === 'sqlite' ? 1 : config.storage.reports_pool_size
  return createFairSemaphore({
    most,
    mostOfGroup: Math.min(mostOfOrganization, Math.max(1, most - 1)),
    mostWaitingOfGroup: mostWaitingOfOrganization,
  })
}
