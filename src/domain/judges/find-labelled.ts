import type { AppealStore } from '../appeals/appeal.ts'
import type { AuditReads } from '../audit/log.ts'
import type { CaseInput, CaseStore } from '../cases/case.ts'
import { contentOf } from '../policy/content.ts'
import type { PolicyStore } from '../policy/store.ts'
import type { CalibrationItem } from './calibration.ts'
import { textOfAppeal } from './labels.ts'
import type { CalibrationRunnerParts } from './runner.ts'

type Stores = {
  readonly policies: Pick<PolicyStore, 'find'>
  readonly cases: Pick<CaseStore, 'find'>
  readonly appeals: Pick<AppealStore, 'find'>
  readonly events: Pick<AuditReads, 'findRequest'>
}

/** Reads what a judge is asked about a label. Texts are not copied for a calibration, so they may have been erased since. */
export function createFindLabelled(stores: Stores): CalibrationRunnerParts['findLabelled'] {
  return async ({ organizationId }, item) => {
    const { policyId: id } = item
    const policy = await stores.policies.find(organizationId, id)
    const given = policy && (await givenOf(organizationId, item))
    if (!policy || !given) return undefined
    return { kind: 'labelled', policy: { id, content: contentOf(policy.published ?? policy.draft) }, given }
  }

  async function givenOf(organizationId: string, item: CalibrationItem): Promise<CaseInput | undefined> {
    if ('caseId' in item) {
      const { policyId, caseId } = item
      return (await stores.cases.find({ organizationId, policyId }, caseId))?.given
    }
    const appeal = await stores.appeals.find(organizationId, item.appealId)
    return appeal && textOfAppeal(stores.events, appeal)
  }
}
