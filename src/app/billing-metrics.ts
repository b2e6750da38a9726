import type { Metrics } from '../base/metrics.ts'
import { chargeResults, type ChargeResult } from '../domain/credits/settle.ts'
import type { AdmissionResult } from '../domain/limits/admission.ts'
import { metrics as limitMetrics } from '../domain/limits/scopes.ts'

/** Counts admissions, charges and given-up requests. */
export function createMeasures(metrics: Metrics) {
  const admissions = metrics.counter('gatehouse_admissions_total', 'Requests decided by limits and credits.', {
    outcome: ['admitted', 'credits', ...limitMetrics],
    scope: ['key', 'project', 'organization', 'none'],
  })
  const charges = metrics.counter('gatehouse_charges_total', 'Charges written to the ledger.', {
    result: chargeResults,
  })
  const orphans = metrics.counter('gatehouse_orphans_total', 'Requests that were given up because their node died.', {})
  const countAdmitted = admissions.series({ outcome: 'admitted', scope: 'none' })
  const countWritten = charges.series({ result: 'written' })
  return {
    admission: (result: AdmissionResult): void =>
      result.admitted ? countAdmitted() : admissions.add({ outcome: result.reason, scope: result.scope }),
    orphans: (count: number): void => orphans.add({}, count),
    charge: (result: ChargeResult): void => (result === 'written' ? countWritten() : charges.add({ result })),
  }
}
